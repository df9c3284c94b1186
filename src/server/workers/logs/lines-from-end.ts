import { open, type FileHandle } from "node:fs/promises";

/** Number of bytes per read, about 300 log entries. The daemon serves requests between two reads. */
const chunkBytes = 64 * 1024;
const lineBreak = "\n".charCodeAt(0);

/** Yields the lines of a file in chunks. The last line comes first. Yields nothing for a missing file. */
export async function* linesFromEnd(file: string): AsyncGenerator<string[]> {
  const handle = await openExisting(file);
  if (!handle) return;
  try {
    /** Parts of a line whose beginning is not read yet. */
    let rest: Buffer[] = [];
    for (let end = (await handle.stat()).size; end > 0;) {
      const start = Math.max(0, end - chunkBytes);
      const { buffer: chunk } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
      end = start;
      const lineStart = start === 0 ? 0 : chunk.indexOf(lineBreak) + 1;
      if (start > 0 && lineStart === 0) {
        rest = [chunk, ...rest];
        continue;
      }
      const text = Buffer.concat([chunk.subarray(lineStart), ...rest]).toString();
      rest = [chunk.subarray(0, lineStart)];
      yield text.split("\n").toReversed();
    }
  } finally {
    await handle.close();
  }
}

async function openExisting(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
