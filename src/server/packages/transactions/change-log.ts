import { closeSync, fstatSync, openSync, readFileSync, readSync, renameSync, statSync, writeFileSync, writeSync } from "node:fs";
import { randomUUID } from "node:crypto";
import type { ChangeSubject, ChangeType } from "../../../shared/contract/changes.js";
import type { Move } from "./journal.js";

/** File size in bytes above which the next write replaces the file by a shorter one. */
const mostBytes = 256 * 1024;
/** Maximum size in bytes of the newest lines in the shorter file. Daemons that have not read these lines yet can still read them. */
const keptBytes = 128 * 1024;

const nothingNew: NewChanges = { changes: [], hasGap: false };

interface Line {
  /** Random identifier of the file. A file that replaces a deleted file has another identifier. */
  readonly log: string;
  readonly number: number;
  readonly by: string;
  readonly change: PeerChange;
}

interface NewChanges {
  readonly changes: readonly PeerChange[];
  /** True if the daemon has missed lines since the last read. */
  readonly hasGap: boolean;
}

/**
 * File through which daemons with a common package directory report changes to each other, one JSON line per change. One system call finds
 * out whether there are new lines. Only the daemon that holds the directory's lock writes.
 */
export class ChangeLog {
  readonly #file: string;
  readonly #instance: string;
  #inode = -1;
  #offset = 0;
  #log: string | undefined;
  #number = 0;

  constructor(options: { file: string; instance: string }) {
    this.#file = options.file;
    this.#instance = options.instance;
  }

  /** Returns the changes that other daemons have reported since the last call. */
  read(): NewChanges {
    const stat = statSync(this.#file, { throwIfNoEntry: false });
    if (!stat) return this.#forget();
    if (stat.ino === this.#inode && stat.size === this.#offset) return nothingNew;
    const isSame = stat.ino === this.#inode && stat.size > this.#offset;
    const { inode, from, text } = readFrom(this.#file, isSame ? this.#offset : 0);
    const end = text.lastIndexOf("\n") + 1;
    this.#inode = inode;
    this.#offset = from + Buffer.byteLength(text.slice(0, end));
    return this.#take(text.slice(0, end).split("\n"));
  }

  /** Appends a change. The caller must hold the lock of the directory and must call `read` first. */
  append(change: PeerChange): void {
    this.#log ??= randomUUID();
    const line: Line = { log: this.#log, number: this.#number + 1, by: this.#instance, change };
    const text = `${JSON.stringify(line)}\n`;
    const size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > mostBytes) this.#beginAnew(text);
    // Writes a line break first if the file ends with an incomplete line of a crashed daemon. Readers skip the incomplete line.
    else this.#write(size > this.#offset ? `\n${text}` : text);
    this.#number += 1;
  }

  #write(text: string): void {
    const descriptor = openSync(this.#file, "a", 0o600);
    try {
      writeSync(descriptor, text);
      const { ino, size } = fstatSync(descriptor);
      this.#inode = ino;
      this.#offset = size;
    } finally {
      closeSync(descriptor);
    }
  }

  #beginAnew(text: string): void {
    const content = readFileSync(this.#file);
    const newest = content.subarray(content.indexOf("\n", Math.max(0, content.length - keptBytes)) + 1);
    const next = `${this.#file}~`;
    writeFileSync(next, `${newest.toString("utf8")}\n${text}`, { mode: 0o600 });
    const { ino, size } = statSync(next);
    renameSync(next, this.#file);
    this.#inode = ino;
    this.#offset = size;
  }

  #take(texts: readonly string[]): NewChanges {
    const changes: PeerChange[] = [];
    const isFirst = this.#log === undefined;
    let hasGap = false;
    for (const text of texts) {
      const line = parseLine(text);
      if (!line) continue;
      const isOther = line.log !== this.#log;
      if (!isOther && line.number <= this.#number) continue;
      if (isOther ? !isFirst || line.number !== 1 : line.number !== this.#number + 1) hasGap = true;
      this.#log = line.log;
      this.#number = line.number;
      if (line.by !== this.#instance) changes.push(line.change);
    }
    return { changes, hasGap };
  }

  #forget(): NewChanges {
    const hasGap = this.#log !== undefined;
    this.#inode = -1;
    this.#offset = 0;
    this.#log = undefined;
    this.#number = 0;
    return { changes: [], hasGap };
  }
}

function readFrom(file: string, from: number): { inode: number; from: number; text: string } {
  const descriptor = openSync(file, "r");
  try {
    const { ino, size } = fstatSync(descriptor);
    const start = Math.min(from, size);
    const buffer = Buffer.alloc(size - start);
    const length = readSync(descriptor, buffer, 0, buffer.length, start);
    return { inode: ino, from: start, text: buffer.toString("utf8", 0, length) };
  } finally {
    closeSync(descriptor);
  }
}

/** Parses a line of the change log. Returns undefined for an incomplete line of a crashed daemon. */
function parseLine(text: string): Line | undefined {
  if (text === "") return undefined;
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
}

/** Report of a change of packages to other daemons. All paths are relative to the package directory. */
export interface PeerChange {
  readonly type: ChangeType;
  readonly subject: Pick<ChangeSubject, "name" | "version">;
  /** Folders of workers or plugins that the other daemons must read again. */
  readonly folders: readonly string[];
  /** Folders of packages in which the change edited single files. */
  readonly edited?: readonly string[];
  /** New paths of replaced content. Isolates can still read from these paths. */
  readonly moved?: readonly Move[];
  /** True if the change failed, or if its daemon stopped during the change. The change has possibly not happened. */
  readonly isUncertain?: true;
}

/** Receives the changes that other daemons make in a package directory. */
export interface ChangeFollower {
  /** Called for each batch of new changes. The changes are in the order in which they were made. */
  readonly follow: (changes: readonly PeerChange[]) => void;
  /** Called if the daemon has missed changes. The follower then reads all packages again. */
  readonly missed: () => void;
}
