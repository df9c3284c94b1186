import type { Connection } from "../../live/connection.js";
import type { Folder } from "./package-ref.js";
import { fileOperations } from "./file-operations.js";

interface SendOptions {
  /** Expected ETag of each file. The daemon rejects the call if an ETag differs. */
  readonly etags?: readonly string[];
  readonly onSent: (sentBytes: number) => void;
  readonly signal: AbortSignal;
}

/** Writes files into a folder and replaces files with the same name. Resolves when the daemon serves the new files. */
export async function sendFiles(
  connection: Connection,
  { of, path }: Folder,
  files: readonly { readonly file: Blob; readonly filename: string }[],
  { etags, onSent, signal }: SendOptions,
): Promise<void> {
  const operations = { files: { upload: fileOperations[of.kind].upload } };
  const names = files.map(({ filename }) => filename);
  // File names are sent as text fields, because the file name in a multipart header can lose characters in transit.
  const texts: (readonly [string, string])[] = [["path", path], ...names.map((name) => ["paths", name] as const)];
  for (const etag of etags ?? []) texts.push(["ifMatch", etag]);
  const sent = { field: operations.files.upload.form.files, files, texts, onSent, signal };
  const { files: client } = connection.uploadClient(operations, sent);
  // The upload transport sends the files, so `files` is empty in this call.
  await client.upload({ fields: { path, paths: names }, files: [] });
}
