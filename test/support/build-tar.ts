import { gzipSync } from "node:zlib";

/** A tar entry, valid or invalid. */
export interface TarEntry {
  readonly name?: string | Buffer;
  /** Type of the entry as one character. "0" is a file. */
  readonly type?: string;
  readonly content?: string | Buffer;
  readonly mode?: number;
  readonly linkTarget?: string;
  /** Replaces the size field of the header with these 12 bytes. */
  readonly rawSize?: Buffer;
  readonly prefix?: string;
  /** Writes a wrong checksum into the header. */
  readonly brokenChecksum?: boolean;
}

const blockBytes = 512;

/** Returns the bytes of one entry: header, content and padding. */
export function tarEntry(entry: TarEntry): Buffer {
  const content = Buffer.from(entry.content ?? "");
  const header = Buffer.alloc(blockBytes);
  Buffer.from(entry.name ?? "").copy(header, 0, 0, 100);
  header.write(octal(entry.mode ?? 0o644, 8), 100, "latin1");
  header.write(octal(0, 8), 108, "latin1");
  header.write(octal(0, 8), 116, "latin1");
  if (entry.rawSize) entry.rawSize.copy(header, 124);
  else header.write(octal(content.length, 12), 124, "latin1");
  header.write(octal(1_700_000_000, 12), 136, "latin1");
  header.write("        ", 148, "latin1");
  header.write(entry.type ?? "0", 156, "latin1");
  header.write(entry.linkTarget ?? "", 157, 100);
  header.write("ustar\u000000", 257, "latin1");
  header.write(entry.prefix ?? "", 345, 155);
  const sum = sumOf(header);
  header.write(`${octal(entry.brokenChecksum ? sum + 1 : sum, 7)} `, 148, "latin1");
  return Buffer.concat([header, content, Buffer.alloc(padding(content.length))]);
}

/** Returns a pax extended header with these records for the next entry. */
export function paxHeader(records: Readonly<Record<string, string | Buffer>>, type = "x"): Buffer {
  const body = Object.entries(records).map(([key, value]) => paxRecord(key, Buffer.from(value)));
  return tarEntry({ name: "PaxHeader", type, content: Buffer.concat(body) });
}

/** Returns a GNU long name for the next entry. */
export function longName(name: string, type = "L"): Buffer {
  return tarEntry({ name: "././@LongLink", type, content: `${name}\0` });
}

/** Two zero blocks, which mark the end of a tar. */
export const tarEnd = Buffer.alloc(2 * blockBytes);

/** Returns a complete tar of raw parts and entries, with its end mark. */
export function buildTar(...parts: readonly (Buffer | TarEntry)[]): Buffer {
  return Buffer.concat([...parts.map((part) => (Buffer.isBuffer(part) ? part : tarEntry(part))), tarEnd]);
}

/** Returns the same as `buildTar`, compressed with gzip. */
export function buildTgz(...parts: readonly (Buffer | TarEntry)[]): Buffer {
  return gzipSync(buildTar(...parts));
}

function paxRecord(key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from("\n")]);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

/** Uses a loop. With `reduce`, building an archive of 300,000 entries takes twice as long. */
function sumOf(bytes: Buffer): number {
  let sum = 0;
  for (let index = 0; index < bytes.length; index += 1) sum += bytes[index] as number;
  return sum;
}

function octal(value: number, fieldBytes: number): string {
  return `${value.toString(8).padStart(fieldBytes - 1, "0")}\0`.slice(-fieldBytes);
}

function padding(byteCount: number): number {
  return (blockBytes - (byteCount % blockBytes)) % blockBytes;
}
