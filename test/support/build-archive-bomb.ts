import { crc32, createDeflateRaw, constants } from "node:zlib";
import { once } from "node:events";

const pieceBytes = 64 * 1024 * 1024;

/** Creates a gzip file that contains `head` and gigabytes of zeros. Repeats one compressed chunk, which needs little time and memory. */
export async function gzippedZeros(head: Buffer, zeroBytes: number): Promise<Buffer> {
  const first = await flushed(head);
  const piece = await flushed(Buffer.alloc(pieceBytes));
  const pieces = Array.from({ length: Math.ceil(zeroBytes / pieceBytes) }, () => piece);
  const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
  const lastBlock = Buffer.from([3, 0]);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(head), 0);
  return Buffer.concat([gzipHeader, first, ...pieces, lastBlock, trailer]);
}

/** Returns deflate data that ends at a byte boundary and does not refer to earlier data. */
async function flushed(content: Buffer): Promise<Buffer> {
  const deflate = createDeflateRaw({ level: 9 });
  const pieces: Buffer[] = [];
  deflate.on("data", (piece: Buffer) => pieces.push(piece));
  deflate.write(content);
  deflate.flush(constants.Z_FULL_FLUSH, () => deflate.emit("flushed"));
  await once(deflate, "flushed");
  deflate.destroy();
  return Buffer.concat(pieces);
}
