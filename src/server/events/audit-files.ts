import { mkdir, open, readdir, rm, type FileHandle } from "node:fs/promises";
import path from "node:path";

/**
 * Matches the name of an audit log file. The name is the id of the first entry in the file. Sorted names therefore give the order of the
 * entries.
 */
const fileName = /^(\d{16})\.jsonl$/;
/** Number of bytes that the daemon reads from an audit log file at a time. */
const blockBytes = 64 * 1024;
const newline = 0x0a;

export interface AuditFilesOptions {
  readonly directory: string;
  /** Size in bytes of the current audit log file at which the daemon begins a new file. */
  readonly fileBytes: number;
  /** Number of audit log files that are kept, including the current file. */
  readonly keptFiles: number;
}

interface OpenFile {
  readonly file: FileHandle;
  sizeBytes: number;
}

/** The files of the audit log. Each line is one entry. The daemon only appends entries. The files have mode 0600. */
export class AuditFiles {
  readonly #options: AuditFilesOptions;
  #current: OpenFile | undefined;

  constructor(options: AuditFilesOptions) {
    this.#options = options;
  }

  /**
   * Appends complete lines. `firstId` is the id of the first entry in the lines. If the call throws, the file contains none of the lines.
   */
  async append(lines: string, firstId: number, { isSynced }: { isSynced: boolean }): Promise<void> {
    const current = await this.#openFor(firstId);
    const bytes = Buffer.from(lines);
    try {
      await current.file.appendFile(bytes);
      if (isSynced) await current.file.datasync();
    } catch (error) {
      // Restores the previous size of the file after a failed write. A partial line would make the next line unreadable.
      await current.file.truncate(current.sizeBytes).catch(() => this.#leave());
      throw error;
    }
    current.sizeBytes += bytes.length;
  }

  /** Yields the lines of all files in blocks, newest first. Stops at a file that was deleted meanwhile. */
  async *linesBackwards(): AsyncGenerator<string[]> {
    for (const name of (await this.#names()).toReversed()) {
      const file = await open(path.join(this.#options.directory, name), "r").catch(() => undefined);
      if (!file) return;
      try {
        yield* blocksBackwards(file);
      } finally {
        await file.close();
      }
    }
  }

  async close(): Promise<void> {
    await this.#current?.file.datasync().catch(() => undefined);
    await this.#leave();
  }

  async #openFor(firstId: number): Promise<OpenFile> {
    if (!this.#current) {
      await mkdir(this.#options.directory, { recursive: true, mode: 0o700 });
      const newest = (await this.#names()).at(-1);
      if (newest !== undefined) this.#current = await this.#open(newest);
    }
    if (this.#current && this.#current.sizeBytes < this.#options.fileBytes) return this.#current;
    const next = await this.#open(`${String(firstId).padStart(16, "0")}.jsonl`);
    await this.#leave();
    this.#current = next;
    await syncDirectory(this.#options.directory);
    const names = await this.#names();
    for (const name of names.slice(0, Math.max(0, names.length - this.#options.keptFiles)))
      await rm(path.join(this.#options.directory, name), { force: true });
    return next;
  }

  /** Opens a file for appending. Removes an incomplete last line. A daemon that was killed left this line and never confirmed its entry. */
  async #open(name: string): Promise<OpenFile> {
    const file = await open(path.join(this.#options.directory, name), "a+", 0o600);
    try {
      await file.chmod(0o600);
      const sizeBytes = await endOfLastLine(file);
      await file.truncate(sizeBytes);
      return { file, sizeBytes };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async #leave(): Promise<void> {
    const { file } = this.#current ?? {};
    this.#current = undefined;
    await file?.close().catch(() => undefined);
  }

  async #names(): Promise<string[]> {
    const names = await readdir(this.#options.directory).catch(() => []);
    return names.filter((name) => fileName.test(name)).toSorted();
  }
}

async function* blocksBackwards(file: FileHandle): AsyncGenerator<string[]> {
  let end = (await file.stat()).size;
  let rest = Buffer.alloc(0);
  while (end > 0) {
    const start = Math.max(0, end - blockBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    const bytes = Buffer.concat([buffer.subarray(0, bytesRead), rest]);
    // The first line of a block is incomplete if it begins in the previous block of the file.
    const whole = start === 0 ? 0 : bytes.indexOf(newline) + 1;
    if (start > 0 && whole === 0) rest = bytes;
    else {
      rest = bytes.subarray(0, whole);
      const lines = bytes.toString("utf8", whole).split("\n");
      yield lines.filter((line) => line !== "").toReversed();
    }
    end = start;
  }
}

/** Returns the number of bytes up to the end of the last complete line. */
async function endOfLastLine(file: FileHandle): Promise<number> {
  let end = (await file.stat()).size;
  while (end > 0) {
    const start = Math.max(0, end - blockBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    const last = buffer.subarray(0, bytesRead).lastIndexOf(newline);
    if (last >= 0) return start + last + 1;
    end = start;
  }
  return 0;
}

async function syncDirectory(directory: string): Promise<void> {
  const folder = await open(directory, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
