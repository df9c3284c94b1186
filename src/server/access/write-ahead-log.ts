import { readFileSync, statSync } from "node:fs";

/** Size of the header of the write-ahead log (https://www.sqlite.org/fileformat2.html#the_write_ahead_log). */
const headBytes = 32;
const frameHeadBytes = 24;
/** Value of the first field in the write-ahead log. The last bit of this field states the byte order of the checksums. */
const magic = 0x377f0682;
const formatVersion = 3_007_000;
const saltAt = 16;

/** Thrown when the write-ahead log of the key store is damaged. */
export class DamagedLogError extends Error {}

/**
 * Throws if the write-ahead log is damaged: the header is invalid, or a commit follows an invalid frame. SQLite would ignore everything
 * after the invalid frame. Damage in the last transaction cannot be detected.
 */
export function assertLogSound(databaseFile: string): void {
  const file = `${databaseFile}-wal`;
  const log = readLog(file);
  if (log.length === 0) return;
  // Accepts an empty database file without a log, because SQLite deletes the log when the database is empty.
  if (statSync(databaseFile).size === 0) throw new DamagedLogError("the key store is empty, but its log is not");
  // Accepts a log that contains only zeros. SQLite has then extended the file, but has not written a frame yet.
  if (log.every((byte) => byte === 0)) return;
  const checksum = readHead(log);
  if (!checksum) throw new DamagedLogError(`the header of its log ${file} is damaged`);
  if (commitsPastEnd(log, checksum) > 1) throw new DamagedLogError(`its log ${file} is damaged`);
}

/** Returns an empty buffer for a missing log, because another process can delete the log at any time when it closes the database. */
function readLog(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return Buffer.alloc(0);
  }
}

/** Returns whether a write-ahead log exists and its database file is missing. */
export function hasLostDatabase(databaseFile: string): boolean {
  const log = statSync(`${databaseFile}-wal`, { throwIfNoEntry: false });
  return (log?.size ?? 0) > 0 && !statSync(databaseFile, { throwIfNoEntry: false });
}

/** Returns the checksum of the header of the write-ahead log, or undefined for an invalid header. */
function readHead(log: Buffer): Checksum | undefined {
  if (log.length < headBytes) return undefined;
  const isBigEndian = log.readUInt32BE(0) === magic + 1;
  if ((!isBigEndian && log.readUInt32BE(0) !== magic) || log.readUInt32BE(4) !== formatVersion) return undefined;
  const checksum = new Checksum(isBigEndian);
  checksum.add(log, 0, headBytes - 8);
  return checksum.isAt(log, headBytes - 8) ? checksum : undefined;
}

/** Counts the commits after the first invalid frame. Does not count frames that remain from an earlier use of the log file. */
function commitsPastEnd(log: Buffer, checksum: Checksum): number {
  const pageBytes = log.readUInt32BE(8);
  const salts = log.subarray(saltAt, saltAt + 8);
  let isPastEnd = false;
  let commits = 0;
  for (let at = headBytes; at + frameHeadBytes + pageBytes <= log.length; at += frameHeadBytes + pageBytes) {
    const isOfThisRound = log.subarray(at + 8, at + 16).equals(salts);
    if (!isPastEnd) {
      checksum.add(log, at, 8);
      checksum.add(log, at + frameHeadBytes, pageBytes);
      isPastEnd = !isOfThisRound || !checksum.isAt(log, at + 16);
    }
    const isCommit = log.readUInt32BE(at + 4) > 0;
    if (isPastEnd && isOfThisRound && isCommit) commits += 1;
  }
  return commits;
}

/** Running checksum of the write-ahead log's header and frames. */
class Checksum {
  readonly #isBigEndian: boolean;
  #first = 0;
  #second = 0;

  constructor(isBigEndian: boolean) {
    this.#isBigEndian = isBigEndian;
  }

  add(bytes: Buffer, at: number, length: number): void {
    for (let place = at; place < at + length; place += 8) {
      this.#first = (this.#first + this.#word(bytes, place) + this.#second) >>> 0;
      this.#second = (this.#second + this.#word(bytes, place + 4) + this.#first) >>> 0;
    }
  }

  isAt(bytes: Buffer, at: number): boolean {
    return bytes.readUInt32BE(at) === this.#first && bytes.readUInt32BE(at + 4) === this.#second;
  }

  #word(bytes: Buffer, at: number): number {
    return this.#isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
  }
}
