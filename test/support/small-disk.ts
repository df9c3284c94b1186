import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, rm, statfs, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished } from "vitest";
import { temporaryDirectory } from "./temporary-directory.js";

/** A file system of a few megabytes that tests can fill. Only programs of its launcher can see it. */
export class SmallDisk {
  /** Path of the disk for programs that the launcher starts. */
  readonly directory: string;
  /** Path of the same folder for the process of the test. */
  readonly folder: string;
  /** Arguments that precede a command line, so that its program can see the disk. */
  readonly launcher: readonly string[];
  readonly #filling: string;
  readonly #names: string;

  constructor({ directory, holderPid, enter }: { directory: string; holderPid: number; enter: readonly string[] }) {
    this.directory = directory;
    this.folder = path.join("/proc", String(holderPid), "root", directory);
    this.launcher = ["nsenter", ...enter, "--target", String(holderPid)];
    this.#filling = path.join(this.folder, "filling");
    this.#names = path.join(this.folder, "names");
  }

  /** Fills the disk until at most this many bytes can be written, in blocks of the file system. */
  async leaveKilobytes(kilobytes: number): Promise<void> {
    const file = await open(this.#filling, "a");
    try {
      const { bavail, bsize } = await statfs(this.folder);
      for (let blocks = bavail - (kilobytes * 1024) / bsize; blocks >= 1; blocks -= 1) await file.appendFile(Buffer.alloc(bsize, 1));
    } catch (error) {
      // The daemon under test wrote to the disk at the same time, so fewer blocks were free than counted.
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      await file.close();
    }
  }

  /** Fills the disk until only this many files and folders can be created. */
  async leaveNames(count: number): Promise<void> {
    await mkdir(this.#names);
    for (let number = 0; (await statfs(this.folder)).ffree > count; number += 1)
      await writeFile(path.join(this.#names, String(number)), "");
  }

  /** Waits until no file is open for writing. */
  async makeReadOnly(): Promise<void> {
    const [program = "", ...args] = this.launcher;
    const remount = () => promisify(execFile)(program, [...args, "mount", "-o", "remount,ro", this.directory]);
    await expect.poll(() => remount().then(() => "read-only", String)).toBe("read-only");
  }

  /** Deletes the files that fill the disk. */
  async free(): Promise<void> {
    await rm(this.#filling, { force: true });
    await rm(this.#names, { recursive: true, force: true });
  }
}

/**
 * Mounts a small disk in its own mount namespace until the test ends. Needs `unshare`, `nsenter`, `mount` (util-linux) and the right to
 * create such a namespace; throws otherwise.
 */
export async function mountSmallDisk({ megabytes, names }: { megabytes: number; names: number }): Promise<SmallDisk> {
  const directory = await temporaryDirectory();
  const mount = `mount -t tmpfs -o size=${megabytes}m,nr_inodes=${names},mode=755 tmpfs "${directory}" && echo mounted && exec sleep infinity`;
  const isRoot = process.getuid?.() === 0;
  const asRoot = isRoot ? [] : ["--user", "--map-root-user"];
  const holder = spawn("unshare", [...asRoot, "--mount", "sh", "-c", mount], { stdio: ["ignore", "pipe", "pipe"] });
  let complaint = "";
  holder.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
  const ended = once(holder, "close");
  onTestFinished(async () => {
    holder.kill("SIGKILL");
    await ended;
  });
  const isMounted = await Promise.race([once(holder.stdout, "data").then(() => true), ended.then(() => false)]);
  if (!isMounted || holder.pid === undefined) throw new Error(`no small disk can be mounted here, which this test needs: ${complaint}`);
  return new SmallDisk({
    directory,
    holderPid: holder.pid,
    enter: isRoot ? ["--mount"] : ["--mount", "--user", "--preserve-credentials"],
  });
}
