import { open } from "node:fs/promises";
import { invalidArchive } from "../../../shared/archive/refusal.js";

const endSignature = 0x06054b50;
const endBytes = 22;
const locatorSignature = 0x07064b50;
const locatorBytes = 20;
const zip64EndBytes = 56;
const longestCommentBytes = 0xffff;

/**
 * Where the central directory ends, in bytes from the start. Checks what yauzl takes on trust: that the directory's own count, size and
 * position agree, and that nothing lies between it and the end records.
 */
export async function readZipEnd(path: string): Promise<number> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const tailBytes = Math.min(size, zip64EndBytes + locatorBytes + endBytes + longestCommentBytes);
    const tailStart = size - tailBytes;
    const { buffer: tail } = await file.read(Buffer.alloc(tailBytes), 0, tailBytes, tailStart);
    return tailStart + directoryEnd(tail, tailStart);
  } finally {
    await file.close();
  }
}

function directoryEnd(tail: Buffer, tailStart: number): number {
  let end = tail.length - endBytes;
  while (end >= 0 && tail.readUInt32LE(end) !== endSignature) end -= 1;
  if (end < 0) throw invalidArchive("it is not a zip file, or is cut off");
  const locator = end - locatorBytes;
  if (locator >= 0 && tail.readUInt32LE(locator) === locatorSignature) return zip64DirectoryEnd(tail, locator, tailStart);
  const disks = tail.readUInt32LE(end + 4);
  const countHere = tail.readUInt16LE(end + 8);
  const count = tail.readUInt16LE(end + 10);
  const directorySize = tail.readUInt32LE(end + 12);
  const directoryStart = tail.readUInt32LE(end + 16);
  const isSound = disks === 0 && countHere === count && count > 0 && directoryStart + directorySize === tailStart + end;
  if (!isSound) throw invalidArchive("its directory is not where it says, or is empty");
  return end;
}

function zip64DirectoryEnd(tail: Buffer, locator: number, tailStart: number): number {
  const end = locator - zip64EndBytes;
  const stated = tail.readBigUInt64LE(locator + 8);
  if (end < 0 || stated !== BigInt(tailStart + end)) throw invalidArchive("its zip64 records are not where they say");
  const disks = tail.readBigUInt64LE(end + 16);
  const countHere = tail.readBigUInt64LE(end + 24);
  const count = tail.readBigUInt64LE(end + 32);
  const directorySize = tail.readBigUInt64LE(end + 40);
  const directoryStart = tail.readBigUInt64LE(end + 48);
  const isSound = disks === 0n && countHere === count && count > 0n && directoryStart + directorySize === BigInt(tailStart + end);
  if (!isSound) throw invalidArchive("its zip64 directory is not where it says, or is empty");
  return end;
}
