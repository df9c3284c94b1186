import type { ClientOf } from "../../../shared/client.js";
import { pluginFiles, workerFiles } from "../../../shared/contract/files.js";

export const fileOperations = { workers: workerFiles, plugins: pluginFiles };

/** Kind of package: workers or plugins. Each kind has its own file operations. */
export type FileKind = keyof typeof fileOperations;

export type FileApi = ClientOf<typeof fileOperations>[FileKind];
