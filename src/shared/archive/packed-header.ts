import { Header, Pax } from "tar";

/**
 * Modification time of all entries in an archive. With a fixed time, equal files give equal archives. npm uses this time too, because every
 * archive format can store it.
 */
const fixedTime = new Date("1985-10-26T08:15:00Z");
const prefix = "package/";
export const tarBlockBytes = 512;

interface PackedEntry {
  /** Path below the package folder. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly isFolder?: boolean;
  readonly executable?: boolean;
}

/**
 * Returns the tar header of an entry with fixed times and owners. If the name is too long for the tar header, a pax header precedes the tar
 * header.
 */
export function packedHeader({ path, sizeBytes, isFolder = false, executable = false }: PackedEntry): Buffer {
  const entry = {
    path: prefix + path + (isFolder ? "/" : ""),
    type: isFolder ? "Directory" : "File",
    mode: executable || isFolder ? 0o755 : 0o644,
    uid: 0,
    gid: 0,
    size: sizeBytes,
    mtime: fixedTime,
  } as const;
  const block = Buffer.alloc(tarBlockBytes);
  const needsMore = new Header(entry).encode(block, 0);
  return needsMore ? Buffer.concat([new Pax({ path: entry.path, size: entry.size }).encode(), block]) : block;
}

/** Returns the number of bytes between the content of a file and the next header. */
export function tarPaddingBytes(sizeBytes: number): number {
  return (tarBlockBytes - (sizeBytes % tarBlockBytes)) % tarBlockBytes;
}
