import type { Connection } from "../live/connection.js";
import type { Folder } from "./browsed-package.js";
import { fileOperations } from "./file-operations.js";

interface SendOptions {
  readonly onSent: (sentBytes: number) => void;
  readonly signal: AbortSignal;
}

/** Writes files into a folder, in place of those of the same name; resolves when they are served. */
export async function sendFiles(
  connection: Connection,
  { of, path }: Folder,
  files: readonly { readonly file: Blob; readonly filename: string }[],
  options: SendOptions,
): Promise<void> {
  const operations = { files: { upload: fileOperations[of.kind].upload } };
  const names = files.map(({ filename }) => filename);
  // A part's own name may lose characters on its way; those that are sent as texts do not.
  const texts = [["path", path] as const, ...names.map((name) => ["paths", name] as const)];
  const { files: client } = connection.uploadClient(operations, { field: operations.files.upload.form.files, files, texts, ...options });
  // The body is the transport's: it sends the files itself.
  await client.upload({ fields: { path, paths: names }, files: [] });
}
