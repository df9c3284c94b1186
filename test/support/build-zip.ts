import { crc32, deflateRawSync } from "node:zlib";

/** A zip entry, valid or invalid. Omitted fields get valid values. */
export interface ZipEntry {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** Compression method: 0 is stored, 8 is deflated. */
  readonly method?: number;
  readonly localName?: string;
  readonly crc?: number;
  readonly compressedSize?: number;
  readonly uncompressedSize?: number;
  readonly flags?: number;
  /** Unix mode of the entry, including the bits of the file type. */
  readonly mode?: number;
  readonly centralExtra?: Buffer;
  /** Offset that the central directory contains instead of the correct offset. */
  readonly localOffset?: number;
}

export interface ZipEnd {
  readonly count?: number;
  readonly countHere?: number;
  readonly directoryOffset?: number;
  readonly directorySize?: number;
  readonly disk?: number;
  readonly comment?: Buffer;
  /** Bytes between the last entry and the central directory. */
  readonly gap?: Buffer;
  /** Bytes before all entries. */
  readonly before?: Buffer;
}

const utf8Flag = 0x800;

/** Returns a complete zip file. */
export function buildZip(entries: readonly ZipEntry[], end: ZipEnd = {}): Buffer {
  const locals: Buffer[] = [end.before ?? Buffer.alloc(0)];
  const directory: Buffer[] = [];
  let offset = locals[0]?.length ?? 0;
  for (const entry of entries) {
    const local = localPart(entry);
    directory.push(directoryPart(entry, entry.localOffset ?? offset));
    locals.push(local);
    offset += local.length;
  }
  if (end.gap) locals.push(end.gap);
  const directoryOffset = offset + (end.gap?.length ?? 0);
  const directoryBytes = Buffer.concat(directory);
  return Buffer.concat([...locals, directoryBytes, endRecord(entries.length, directoryBytes.length, directoryOffset, end)]);
}

function packed(entry: ZipEntry) {
  const content = Buffer.from(entry.content ?? "");
  const method = entry.method ?? 0;
  const data = method === 8 ? deflateRawSync(content) : content;
  return {
    data,
    method,
    crc: entry.crc ?? crc32(content),
    compressedSize: entry.compressedSize ?? data.length,
    uncompressedSize: entry.uncompressedSize ?? content.length,
    flags: entry.flags ?? utf8Flag,
  };
}

function localPart(entry: ZipEntry): Buffer {
  const { data, method, crc, compressedSize, uncompressedSize, flags } = packed(entry);
  const name = Buffer.from(entry.localName ?? entry.name);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(20, 4);
  header.writeUInt16LE(flags, 6);
  header.writeUInt16LE(method, 8);
  header.writeUInt32LE(crc, 14);
  header.writeUInt32LE(compressedSize, 18);
  header.writeUInt32LE(uncompressedSize, 22);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([header, name, data]);
}

function directoryPart(entry: ZipEntry, localOffset: number): Buffer {
  const { method, crc, compressedSize, uncompressedSize, flags } = packed(entry);
  const name = Buffer.from(entry.name);
  const extra = entry.centralExtra ?? Buffer.alloc(0);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE((3 << 8) | 20, 4);
  header.writeUInt16LE(20, 6);
  header.writeUInt16LE(flags, 8);
  header.writeUInt16LE(method, 10);
  header.writeUInt32LE(crc, 16);
  header.writeUInt32LE(compressedSize, 20);
  header.writeUInt32LE(uncompressedSize, 24);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt16LE(extra.length, 30);
  header.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 38);
  header.writeUInt32LE(localOffset, 42);
  return Buffer.concat([header, name, extra]);
}

function endRecord(count: number, directorySize: number, directoryOffset: number, end: ZipEnd): Buffer {
  const comment = end.comment ?? Buffer.alloc(0);
  const record = Buffer.alloc(22);
  record.writeUInt32LE(0x06054b50, 0);
  record.writeUInt16LE(end.disk ?? 0, 4);
  record.writeUInt16LE(end.countHere ?? end.count ?? count, 8);
  record.writeUInt16LE(end.count ?? count, 10);
  record.writeUInt32LE(end.directorySize ?? directorySize, 12);
  record.writeUInt32LE(end.directoryOffset ?? directoryOffset, 16);
  record.writeUInt16LE(comment.length, 20);
  return Buffer.concat([record, comment]);
}

/** Returns a zip64 extra field with these 64-bit numbers. */
export function zip64Extra(...values: readonly bigint[]): Buffer {
  const extra = Buffer.alloc(4 + values.length * 8);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(values.length * 8, 2);
  for (const [index, value] of values.entries()) extra.writeBigUInt64LE(value, 4 + index * 8);
  return extra;
}
