import type { Folder } from "./folder.js";
import type { FolderPlan } from "./folder-plan.js";
import { blockBytes, padded, tarHeader } from "./tar-header.js";

/** Packs the files of the plan into a gzipped tar archive. Each path starts with `package/`. The browser can store the Blob on the disk. */
export async function packFolder(folder: Folder, { files }: FolderPlan, signal: AbortSignal): Promise<Blob> {
  const parts: BlobPart[] = [];
  for (const path of files) {
    signal.throwIfAborted();
    const file = await folder.open(path);
    if (!file) throw new Error(`${path} does not exist any more. Choose the folder again.`);
    parts.push(tarHeader(`package/${path}`, file.size), file, new Uint8Array(padded(file.size) - file.size));
  }
  parts.push(new Uint8Array(2 * blockBytes));
  // Creating the Blob reads no file. The files are read while the stream is read.
  const packed = new Blob(parts).stream().pipeThrough(new CompressionStream("gzip"), { signal });
  return await new Response(packed).blob();
}
