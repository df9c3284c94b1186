import { execFile } from "node:child_process";
import { randomInt, createHash } from "node:crypto";
import { promisify } from "node:util";
import { userFlags } from "./isolate-command.js";
import { findSystemTool } from "../../platform/system-tool.js";
import { readFileSync, renameSync, writeFileSync } from "node:fs";

/**
 * Shell script that prints the first argument that the current user cannot use. `$0` must be executable, a file must be readable, and the
 * user must be able to enter a folder.
 */
const probeScript =
  '"$0" --version >/dev/null || { echo "$0"; exit 1; }; for f; do { [ -d "$f" ] && [ -x "$f" ]; } || { [ ! -d "$f" ] && [ -r "$f" ]; } || { echo "$f"; exit 1; }; done';

/**
 * Share of the user ids, at the end of the range, for permanent users of workers. Other isolates never run as these users, so they cannot
 * access the files of these workers.
 */
const namedShare = 0.25;

/** Assigns user ids to isolates. Each isolate gets a user of its own while unused ids exist. */
export class UidPool {
  readonly #first: number;
  readonly #count: number;
  readonly #named: NamedUsers | undefined;
  readonly #setpriv: string;
  readonly #taken = new Map<number, number>();
  /** Index of the next user. The first index is random, so that two daemons with the same range probably use different users. */
  #next: number;

  /**
   * Returns undefined if this process cannot change the user of processes. With another `daemon`, a worker name gets another user, because
   * each daemon kills all processes of its users. `file` contains the user of each worker name.
   */
  static find(range: { readonly first: number; readonly last: number } | undefined, daemon = "", file?: string): UidPool | undefined {
    const setpriv = findSystemTool("setpriv");
    if (range === undefined || setpriv === undefined || process.getuid?.() !== 0) return undefined;
    return new UidPool(range, { daemon, file, setpriv });
  }

  private constructor(
    range: { readonly first: number; readonly last: number },
    { daemon, file, setpriv }: { readonly daemon: string; readonly file: string | undefined; readonly setpriv: string },
  ) {
    this.#first = range.first;
    const count = range.last - range.first + 1;
    const namedCount = Math.floor(count * namedShare);
    this.#named = namedCount === 0 ? undefined : new NamedUsers({ file, salt: daemon, count: namedCount });
    this.#count = count - namedCount;
    this.#next = randomInt(this.#count);
    this.#setpriv = setpriv;
  }

  /**
   * Returns the reason why isolates cannot run as these users. Returns undefined if they can. `paths` are files that isolates must read and
   * folders that they must enter.
   */
  async obstacle(paths: readonly string[]): Promise<string | undefined> {
    try {
      await this.#run(this.#first, ["/bin/sh", "-c", probeScript, process.execPath, ...paths]);
      return undefined;
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
      const unreadable = stdout.trim();
      return unreadable === "" ? stderr.trim() || String(error) : `they cannot read ${unreadable}`;
    }
  }

  /** Returns an OS user that no isolate runs as. If all users are in use, returns a user that other isolates already run as. */
  take(): number {
    for (let tries = 0; tries < this.#count; tries += 1) {
      const user = this.#first + this.#next;
      this.#next = (this.#next + 1) % this.#count;
      if (!this.#taken.has(user)) return this.#hold(user);
    }
    return this.#hold(this.#first + this.#next);
  }

  /** Returns the OS user of a worker name. The user stays the same after a restart of the daemon. */
  takeNamed(name: string): number {
    return this.#hold(this.#named ? this.#first + this.#count + this.#named.indexOf(name) : this.#first);
  }

  giveBack(user: number): void {
    const left = (this.#taken.get(user) ?? 1) - 1;
    if (left > 0) this.#taken.set(user, left);
    else this.#taken.delete(user);
  }

  /** Returns true if more than one isolate runs as this user. */
  isShared(user: number): boolean {
    return (this.#taken.get(user) ?? 0) > 1;
  }

  /** Kills all processes of `user`, such as processes that an exited isolate has left. */
  async killAll(user: number): Promise<void> {
    await this.#run(user, ["/bin/sh", "-c", "kill -KILL -1"]).catch(() => undefined);
  }

  #hold(user: number): number {
    this.#taken.set(user, (this.#taken.get(user) ?? 0) + 1);
    return user;
  }

  async #run(user: number, command: readonly string[]): Promise<void> {
    await promisify(execFile)(this.#setpriv, [...userFlags(user), "--no-new-privs", "--", ...command], { env: {}, cwd: "/" });
  }
}

/**
 * Content of the file: the index of the user for each worker name. Indexes count from the first of the user ids that are reserved for
 * workers.
 */
type UserIndexes = Record<string, number>;

/**
 * Derives a permanent user for each worker name from a hash, so that workers keep access to their data if `file` is lost. `file` gives
 * names with equal hashes different users, because an author could choose such a name on purpose.
 */
export class NamedUsers {
  readonly #file: string | undefined;
  readonly #salt: string;
  readonly #count: number;
  readonly #indexes: Map<string, number>;
  readonly #taken: Set<number>;

  /**
   * `count` is the number of users. `salt` is a text that differs between daemons. Without `file`, only memory contains the user of each
   * worker name.
   */
  constructor({ file, salt, count }: { readonly file: string | undefined; readonly salt: string; readonly count: number }) {
    this.#file = file;
    this.#salt = salt;
    this.#count = count;
    this.#indexes = new Map(Object.entries(readUserIndexes(file)).filter(([, index]) => index < count));
    this.#taken = new Set(this.#indexes.values());
  }

  /** Returns the index of a name's user, from 0 to `count` - 1. If all indexes are in use, two names share a user. */
  indexOf(name: string): number {
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    const first = createHash("sha256").update(`${this.#salt}\0${name}`).digest().readUInt32LE(0) % this.#count;
    for (let step = 0; step < this.#count; step += 1) {
      const index = (first + step) % this.#count;
      if (this.#taken.has(index)) continue;
      this.#indexes.set(name, index);
      this.#taken.add(index);
      this.#save();
      return index;
    }
    return first;
  }

  /**
   * Writes the user of each worker name to the file. Ignores a failure, such as a full disk, because memory contains the users until the
   * daemon exits.
   */
  #save(): void {
    if (this.#file === undefined) return;
    const unfinished = `${this.#file}.unfinished`;
    try {
      writeFileSync(unfinished, JSON.stringify(Object.fromEntries(this.#indexes)), { mode: 0o600 });
      renameSync(unfinished, this.#file);
    } catch {
      // Ignores a failed write, because memory also contains the user of each worker name.
    }
  }
}

function readUserIndexes(file: string | undefined): UserIndexes {
  if (file === undefined) return {};
  try {
    const indexes = JSON.parse(readFileSync(file, "utf8")) as unknown;
    return isUserIndexes(indexes) ? indexes : {};
  } catch {
    return {};
  }
}

function isUserIndexes(value: unknown): value is UserIndexes {
  return typeof value === "object" && value !== null && Object.values(value).every((index) => Number.isSafeInteger(index) && index >= 0);
}
