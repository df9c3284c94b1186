export const blockBytes = 512;

/**
 * Modification time that the archive states for all files, in Unix seconds. npm uses the same fixed time. Because the time is fixed, equal
 * files produce equal archives.
 */
const fixedTime = Date.UTC(1985, 9, 26, 8, 15) / 1000;
const nameBytes = 100;
/** Largest file size in bytes that the 11 octal digits of a tar header can express. */
const largestSize = 8 ** 11 - 1;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns the tar header of a file. If the path is longer than 100 bytes, an extended header with the path precedes it. */
export function tarHeader(path: string, sizeBytes: number): Uint8Array<ArrayBuffer> {
  if (sizeBytes > largestSize) throw new Error(`${path} is too large for an archive.`);
  const name = encoder.encode(path);
  if (name.length <= nameBytes) return block(name, sizeBytes, "0");
  const record = paxRecord("path", path);
  const extension = new Uint8Array(blockBytes + padded(record.length) + blockBytes);
  extension.set(block(encoder.encode("PaxHeader"), record.length, "x"));
  extension.set(record, blockBytes);
  extension.set(block(name.subarray(0, nameBytes), sizeBytes, "0"), blockBytes + padded(record.length));
  return extension;
}

/** Rounds a size in bytes up to a multiple of the tar block size. */
export function padded(sizeBytes: number): number {
  return Math.ceil(sizeBytes / blockBytes) * blockBytes;
}

function block(name: Uint8Array, sizeBytes: number, type: string): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(blockBytes);
  const write = (offset: number, text: string) => header.set(encoder.encode(text), offset);
  header.set(name);
  write(100, octal(0o644, 7));
  write(108, octal(0, 7));
  write(116, octal(0, 7));
  write(124, octal(sizeBytes, 11));
  write(136, octal(fixedTime, 11));
  write(148, "        ");
  write(156, type);
  write(257, "ustar\x0000");
  const sum = header.reduce((total, byte) => total + byte, 0);
  write(148, `${sum.toString(8).padStart(6, "0")}\0 `);
  return header;
}

function octal(value: number, digits: number): string {
  return `${value.toString(8).padStart(digits, "0")}\0`;
}

/** Returns the pax record `LENGTH KEY=VALUE\n`. `LENGTH` is the length of the whole record, including the digits of `LENGTH`. */
function paxRecord(key: string, value: string): Uint8Array {
  const rest = encoder.encode(` ${key}=${value}\n`).length;
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return encoder.encode(`${length} ${key}=${value}\n`);
}

export interface TarHeader {
  readonly name: string;
  readonly sizeBytes: number;
  /** Entry type in the tar header: `0` file, `5` folder, `x` and `g` extended header, `L` long name. Other types are links and devices. */
  readonly type: string;
}

/** Parses a tar header. Returns undefined for a block of zeros, which ends the archive. */
export function readTarHeader(header: Uint8Array): TarHeader | undefined {
  if (header.every((byte) => byte === 0)) return undefined;
  const text = (start: number, length: number) => decoder.decode(header.subarray(start, start + length)).replace(/\0.*$/s, "");
  const prefix = text(257, 5) === "ustar" ? text(345, 155) : "";
  const sizeBytes = Number.parseInt(text(124, 12).trim() || "0", 8);
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) throw new Error("the size of an entry cannot be read");
  const type = text(156, 1) || "0";
  return { name: prefix === "" ? text(0, nameBytes) : `${prefix}/${text(0, nameBytes)}`, sizeBytes, type };
}

/** Returns the `path` value from a pax extended header. Undefined if the header has no path. */
export function paxPath(record: Uint8Array): string | undefined {
  return /(?:^|\n)\d+ path=(.*)\n/.exec(decoder.decode(record))?.[1];
}
