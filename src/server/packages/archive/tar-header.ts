import { invalidArchive } from "../../../shared/archive/refusal.js";

export const tarBlockBytes = 512;
const blank = 0x20;
const zero = 0x30;

/** The fields of a tar header block that the daemon uses. */
export interface TarHeader {
  readonly type: string;
  readonly name: string;
  readonly linkTarget: string;
  readonly sizeBytes: number;
  readonly mode: number;
}

/** Parses a tar header block. Throws if a number or the checksum is invalid. */
export function parseTarHeader(block: Buffer): TarHeader {
  checkSum(block);
  const type = block[156] === 0 ? "0" : String.fromCharCode(block[156] as number);
  // Ignores the POSIX name prefix in a header of the GNU format, which stores other data at this position.
  const isPosix = block.toString("latin1", 257, 263) === "ustar\0";
  const prefix = isPosix ? textField(block, 345, 155) : "";
  const name = textField(block, 0, 100);
  return {
    type,
    name: prefix === "" ? name : `${prefix}/${name}`,
    linkTarget: textField(block, 157, 100),
    sizeBytes: numberField(block, 124, 12),
    mode: numberField(block, 100, 8),
  };
}

export function isZeroBlock(block: Buffer): boolean {
  return block.every((byte) => byte === 0);
}

function checkSum(block: Buffer): void {
  let sum = 0;
  let signedSum = 0;
  for (let index = 0; index < block.length; index += 1) {
    // Counts each byte of the checksum field as a space, because tar calculates the checksum in this way.
    const byte = index >= 148 && index < 156 ? 0x20 : (block[index] as number);
    sum += byte;
    signedSum += byte > 127 ? byte - 256 : byte;
  }
  const stored = numberField(block, 148, 8);
  // Also accepts a checksum of signed characters, which early tar programs calculated.
  if (stored !== sum && stored !== signedSum) throw invalidArchive("the checksum of a tar header is wrong");
}

function textField(block: Buffer, start: number, length: number): string {
  // Returns early for an empty text field, because most headers have two empty text fields of three.
  if (block[start] === 0) return "";
  const field = block.subarray(start, start + length);
  const end = field.indexOf(0);
  return decodeUtf8(end === -1 ? field : field.subarray(0, end));
}

/**
 * Parses a number field. The field contains octal digits with spaces or NUL bytes as padding, or a GNU binary number in big-endian order,
 * whose first bit is set.
 */
function numberField(block: Buffer, start: number, length: number): number {
  if ((block[start] as number) & 0x80) return binaryNumber(block.subarray(start, start + length));
  let [at, end] = [start, start + length];
  while (at < end && isBlank(block[end - 1] as number)) end -= 1;
  while (at < end && block[at] === blank) at += 1;
  let value = 0;
  for (; at < end; at += 1) {
    const digit = (block[at] as number) - zero;
    if (digit < 0 || digit > 7) throw invalidArchive("a tar header has an invalid number");
    value = value * 8 + digit;
  }
  return value;
}

function isBlank(byte: number): boolean {
  return byte === 0 || byte === blank;
}

function binaryNumber(field: Buffer): number {
  if (field[0] !== 0x80) throw invalidArchive("a tar header has a negative or too large number");
  let value = 0;
  for (const byte of field.subarray(1)) value = value * 256 + byte;
  if (!Number.isSafeInteger(value)) throw invalidArchive("a tar header has a too large number");
  return value;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function decodeUtf8(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    throw invalidArchive("a name in it is not valid UTF-8", error);
  }
}

/** Parses the records of a pax extended header: `<length> <key>=<value>\n`. The length is in bytes and includes its own digits. */
export function parsePaxRecords(body: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  let start = 0;
  while (start < body.length) {
    const space = body.indexOf(0x20, start);
    const digits = space === -1 ? "" : body.toString("latin1", start, space);
    const end = start + Number(digits);
    if (!/^[1-9]\d{0,8}$/.test(digits) || end > body.length || body[end - 1] !== 0x0a) throw invalidArchive("a pax header is malformed");
    const record = body.subarray(space + 1, end - 1);
    const equals = record.indexOf(0x3d);
    if (equals < 1) throw invalidArchive("a pax header is malformed");
    records.set(record.toString("latin1", 0, equals), paxValue(record, equals));
    start = end;
  }
  return records;
}

/** Returns the value of a pax record. The value of a path must be valid UTF-8. Comments and attributes of vendors can contain any bytes. */
function paxValue(record: Buffer, equals: number): string {
  const isName = /^(?:path|linkpath)$/.test(record.toString("latin1", 0, equals));
  const value = record.subarray(equals + 1);
  return isName ? decodeUtf8(value) : value.toString("latin1");
}
