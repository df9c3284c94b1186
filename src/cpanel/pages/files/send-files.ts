import type { Connection } from "../../live/connection.js";
import type { Folder } from "./package-ref.js";
import { fileOperations } from "./file-operations.js";

interface SendOptions {
  /** Expected ETag for each file; the daemon rejects the call if one differs. */
  readonly etags?: readonly string[];
  readonly onSent: (sentBytes: number) => void;
  readonly signal: AbortSignal;
}

/** Writes files into a folder and replaces those with the same name. Resolves when they are served. */
export async function sendFiles(
  connection: Connection,
  { of, path }: Folder,
  files: readonly { readonly file: Blob; readonly filename: string }[],
  { etags, onSent, signal }: SendOptions,
): Promise<void> {
  const operations = { files: { upload: fileOperations[of.kind].upload } };
  const names = files.map(({ filename }) => filename);
  // The name of a part can lose characters in transit; text fields do not.
  const texts: (readonly [string, string])[] = [["path", path], ...names.map((name) => ["paths", name] as const)];
  for (const etag of etags ?? []) texts.push(["ifMatch", etag]);
  const sent = { field: operations.files.upload.form.files, files, texts, onSent, signal };
  const { files: client } = connection.uploadClient(operations, sent);
  // The transport sends the files.
  await client.upload({ fields: { path, paths: names }, files: [] });
}
