import { readFileSync, statSync } from "node:fs";

/** https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
const headBytes = 32;
const frameHeadBytes = 24;
/** The last bit says in which order the words of checksums are read. */
const magic = 0x377f0682;
const formatVersion = 3_007_000;
const saltAt = 16;

/** Why the log cannot be believed. */
export class DamagedLogError extends Error {}

/**
 * Throws when the write-ahead log beside a database was damaged. SQLite takes what it cannot read there for the end of the log, as a power
 * failure leaves it, and starts without a word from the older state before it. So this looks for what no power failure leaves: a head that
 * is no head, or further transactions past the one that was being written. Damage in the last transaction of a log cannot be told from that.
 */
export function assertLogSound(databaseFile: string): void {
  const file = `${databaseFile}-wal`;
  const { size = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  if (size === 0) return;
  // A database that has nothing yet makes SQLite delete the log.
  if (statSync(databaseFile).size === 0) throw new DamagedLogError("the store is empty, though its log is not");
  const log = readFileSync(file);
  // Made longer, and never written.
  if (log.every((byte) => byte === 0)) return;
  const checksum = readHead(log);
  if (!checksum) throw new DamagedLogError(`the head of its log ${file} is damaged`);
  if (commitsPastEnd(log, checksum) > 1) throw new DamagedLogError(`its log ${file} is damaged`);
}

/** Whether a log lies beside a database that is not there. */
export function hasLostDatabase(databaseFile: string): boolean {
  const log = statSync(`${databaseFile}-wal`, { throwIfNoEntry: false });
  return (log?.size ?? 0) > 0 && !statSync(databaseFile, { throwIfNoEntry: false });
}

/** Undefined when it is none. */
function readHead(log: Buffer): Checksum | undefined {
  if (log.length < headBytes) return undefined;
  const isBigEndian = log.readUInt32BE(0) === magic + 1;
  if ((!isBigEndian && log.readUInt32BE(0) !== magic) || log.readUInt32BE(4) !== formatVersion) return undefined;
  const checksum = new Checksum(isBigEndian);
  checksum.add(log, 0, headBytes - 8);
  return checksum.isAt(log, headBytes - 8) ? checksum : undefined;
}

/** How many transactions end past the first frame that is not sound; frames of an earlier round of the log do not count. */
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

/** The sum that goes through head and frames. */
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
