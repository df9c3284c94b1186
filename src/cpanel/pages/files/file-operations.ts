import type { ClientOf } from "../../../shared/client.js";
import { pluginFiles, workerFiles } from "../../../shared/contract/files.js";

export const fileOperations = { workers: workerFiles, plugins: pluginFiles };

/** Whose files: each kind of package has its own, behind operations of its own. */
export type FileKind = keyof typeof fileOperations;

export type FileApi = ClientOf<typeof fileOperations>[FileKind];
