import { randomBytes } from "node:crypto";
import { appendFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { ReceivedBytes, archiveIsWhole } from "../../../../../src/server/packages/archive/unpack-job.js";
import { gunzipFile } from "../../../../../src/server/packages/archive/gzip-reader.js";
import { temporaryDirectory } from "../../../../support/temporary-directory.js";

const chunkBytes = 1024 * 1024;
const headerBytes = 10;
const trailerBytes = 8;
/** Incompressible data grows by a few bytes per 64 KB. */
const content = randomBytes(2 * chunkBytes);

async function gunzip(file: string, received?: ReceivedBytes): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of gunzipFile(file, content.length, received)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

test("a gzip file can end at any offset in a chunk; bytes after its end are rejected", { timeout: 60_000 }, async () => {
  const file = path.join(await temporaryDirectory(), "a.gz");
  const overhead = gzipSync(content.subarray(0, chunkBytes), { level: 0 }).length - chunkBytes;
  for (let excess = -2; excess <= trailerBytes + 2; excess += 1) {
    const expected = content.subarray(0, chunkBytes + headerBytes + trailerBytes - overhead + excess - trailerBytes);
    const zipped = gzipSync(expected, { level: 0 });
    await writeFile(file, zipped);
    expect((await gunzip(file)).equals(expected)).toBe(true);
    await writeFile(file, Buffer.concat([zipped, Buffer.from("x")]));
    await expect(gunzip(file)).rejects.toMatchObject({ code: "INVALID_ARCHIVE" });
    await writeFile(file, zipped.subarray(0, -1));
    await expect(gunzip(file)).rejects.toMatchObject({ code: "INVALID_ARCHIVE" });
  }
});

test.each([1_000, 100_000, chunkBytes, chunkBytes + trailerBytes])(
  "a gzip file is unpacked while it arrives in chunks of %i bytes",
  async (pieceBytes) => {
    const file = path.join(await temporaryDirectory(), "a.gz");
    const input = new PassThrough();
    const zipped = gzipSync(content);
    await writeFile(file, "");

    const reading = gunzip(file, ReceivedBytes.readFrom(input));
    for (let position = 0; position < zipped.length; position += pieceBytes) {
      await appendFile(file, zipped.subarray(position, position + pieceBytes));
      input.write(`${Math.min(position + pieceBytes, zipped.length)}\n`);
    }
    input.write(`${archiveIsWhole}\n`);

    expect((await reading).equals(content)).toBe(true);
  },
);
