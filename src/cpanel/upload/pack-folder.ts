import type { Folder } from "./folder.js";
import type { FolderPlan } from "./folder-plan.js";
import { blockBytes, padded, tarHeader } from "./tar-header.js";

/** Returns the files of the plan as a gzipped tar, each below `package/`. The browser stores the result. */
export async function packFolder(folder: Folder, { files }: FolderPlan, signal: AbortSignal): Promise<Blob> {
  const parts: BlobPart[] = [];
  for (const path of files) {
    signal.throwIfAborted();
    const file = await folder.open(path);
    if (!file) throw new Error(`${path} is not there any more. Choose the folder again.`);
    parts.push(tarHeader(`package/${path}`, file.size), file, new Uint8Array(padded(file.size) - file.size));
  }
  parts.push(new Uint8Array(2 * blockBytes));
  // The Blob reads its files when it is read.
  const packed = new Blob(parts).stream().pipeThrough(new CompressionStream("gzip"), { signal });
  return await new Response(packed).blob();
}
