import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { Context } from "../command/command.js";

/** Writes a download to a new file and returns its size in bytes. Deletes the incomplete file if the download fails. */
export async function saveDownload(
  pieces: AsyncIterable<Uint8Array>,
  target: string,
  { signal }: Pick<Context, "signal">,
): Promise<number> {
  const part = `${target}.part`;
  let sizeBytes = 0;
  const counted = async function* () {
    for await (const piece of pieces) {
      sizeBytes += piece.length;
      yield piece;
    }
  };
  const sink = createWriteStream(part, { flags: "wx" });
  let isOurs = false;
  sink.once("open", () => (isOurs = true));
  try {
    await pipeline(counted, sink, { signal });
    await rename(part, target);
  } catch (error) {
    if (isOurs) await rm(part, { force: true });
    throw error;
  }
  return sizeBytes;
}
