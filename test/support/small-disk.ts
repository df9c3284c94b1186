import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, rm, statfs, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished } from "vitest";
import { temporaryDirectory } from "./temporary-directory.js";

/** A file system of a few megabytes that can be filled; only programs that are started by its launcher see it. */
export class SmallDisk {
  /** Where those programs have it. */
  readonly directory: string;
  /** The same folder, as seen from here. */
  readonly folder: string;
  /** Makes what follows on a command line a program that sees the disk. */
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

  /** Fills it until so much can be written, in whole blocks of the file system. */
  async leaveKilobytes(kilobytes: number): Promise<void> {
    const file = await open(this.#filling, "a");
    try {
      const { bavail, bsize } = await statfs(this.folder);
      for (let blocks = bavail - (kilobytes * 1024) / bsize; blocks >= 1; blocks -= 1) await file.appendFile(Buffer.alloc(bsize, 1));
    } finally {
      await file.close();
    }
  }

  /** Fills it until so many files and folders can be made. */
  async leaveNames(count: number): Promise<void> {
    await mkdir(this.#names);
    for (let number = 0; (await statfs(this.folder)).ffree > count; number += 1)
      await writeFile(path.join(this.#names, String(number)), "");
  }

  /** Waits until nobody has a file open for writing. */
  async makeReadOnly(): Promise<void> {
    const [program = "", ...args] = this.launcher;
    const remount = () => promisify(execFile)(program, [...args, "mount", "-o", "remount,ro", this.directory]);
    await expect.poll(() => remount().then(() => "read-only", String)).toBe("read-only");
  }

  /** Takes away what it was filled with. */
  async free(): Promise<void> {
    await rm(this.#filling, { force: true });
    await rm(this.#names, { recursive: true, force: true });
  }
}

/**
 * A small disk in a mount namespace of its own, until the running test ends. Needs `unshare`, `nsenter` and `mount` (util-linux), and a
 * kernel that gives this user such a namespace; fails where that is not so.
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
