import type { FileApi } from "./file-operations.js";
import { readText, type FileText } from "./file-text.js";

/** Maximum size of a file that the panel shows. Larger files would slow down typing in the editor. */
const largestShownBytes = 512 * 1024;

/** The content of a file, or the reason why the panel cannot show it. */
export type FileContent =
  | {
      readonly kind: "text";
      readonly text: FileText;
      /** ETag of the file, with which a save detects changes by other clients. */
      readonly etag: string | undefined;
    }
  | { readonly kind: "binary"; readonly sizeBytes: number }
  | { readonly kind: "large"; readonly mostBytes: number };

/** Reads a file, but stops at the maximum size that the panel shows. Throws an `ApiError` such as `PATH_NOT_FOUND`. */
export async function readFile(api: FileApi, path: string, signal: AbortSignal): Promise<FileContent> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let sizeBytes = 0;
  const bytes = await api.download({ query: { path } }, signal);
  for await (const piece of bytes) {
    sizeBytes += piece.length;
    if (sizeBytes > largestShownBytes) return { kind: "large", mostBytes: largestShownBytes };
    parts.push(piece as Uint8Array<ArrayBuffer>);
  }
  const text = readText(new Uint8Array(await new Blob(parts).arrayBuffer()));
  return text ? { kind: "text", text, etag: bytes.etag } : { kind: "binary", sizeBytes };
}
