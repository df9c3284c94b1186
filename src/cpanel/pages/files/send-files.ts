import type { Connection } from "../../live/connection.js";
import type { Folder } from "./package-ref.js";
import { fileOperations } from "./file-operations.js";

interface SendOptions {
  /** What the file must be still, for each; else the call is refused. */
  readonly etags?: readonly string[];
  readonly onSent: (sentBytes: number) => void;
  readonly signal: AbortSignal;
}

/** Writes files into a folder, in place of those of the same name; resolves when they are served. */
export async function sendFiles(
  connection: Connection,
  { of, path }: Folder,
  files: readonly { readonly file: Blob; readonly filename: string }[],
  { etags, onSent, signal }: SendOptions,
): Promise<void> {
  const operations = { files: { upload: fileOperations[of.kind].upload } };
  const names = files.map(({ filename }) => filename);
  // A part's own name may lose characters on its way; those that are sent as texts do not.
  const texts: (readonly [string, string])[] = [["path", path], ...names.map((name) => ["paths", name] as const)];
  for (const etag of etags ?? []) texts.push(["ifMatch", etag]);
  const sent = { field: operations.files.upload.form.files, files, texts, onSent, signal };
  const { files: client } = connection.uploadClient(operations, sent);
  // The body is the transport's: it sends the files itself.
  await client.upload({ fields: { path, paths: names }, files: [] });
}
