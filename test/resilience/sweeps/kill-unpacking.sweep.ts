import { chmod, copyFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../support/start-daemon.js";
import { sweepTotals } from "../../support/sweep-totals.js";
import { settled, SweptHouse } from "../../support/swept-house.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { countsIn, straceOptions, type KillAt } from "../../support/trace-calls.js";

/** How many calls past those that were counted are tried. */
const surplus = 2;

/** A Node of its own for a daemon: once that runs, strace watches each process that it starts to unpack an archive. */
class WatchedNode {
  readonly launcher: readonly string[];
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.launcher = ["sh", "-c", `exec ${this.#in("node")} "$@"`];
  }

  static async make(): Promise<WatchedNode> {
    const folder = await temporaryDirectory();
    // Isolates may run as other users.
    await chmod(folder, 0o711);
    await copyFile(process.execPath, path.join(folder, "node"));
    return new WatchedNode(folder);
  }

  /** The daemon has begun, and goes on starting processes by the same path. */
  async watch(): Promise<void> {
    await rename(this.#in("node"), this.#in("node-itself"));
    const script = `#!/bin/sh
case "$*" in
  *archive/main.js*) [ -f ${this.#in("order")} ] && UV_THREADPOOL_SIZE=1 exec strace -f -o ${this.#in("trace")} $(cat ${this.#in("order")}) ${this.#in("node-itself")} "$@" ;;
esac
exec ${this.#in("node-itself")} "$@"
`;
    await writeFile(this.#in("node"), script, { mode: 0o755 });
  }

  /** Runs work while unpacking processes are watched, and killed instead of a call; tells how often they made each. */
  async during(work: () => Promise<void>, killAt?: KillAt): Promise<Map<string, number>> {
    await writeFile(this.#in("order"), straceOptions(killAt).join(" "));
    try {
      await work();
    } finally {
      await rm(this.#in("order"));
    }
    return countsIn(this.#in("trace"));
  }

  #in(name: string): string {
    return path.join(this.#folder, name);
  }
}

const totals = sweepTotals();

test.for([
  { title: "an installation", before: "missing", prepare: (house: SweptHouse) => house.remove() },
  { title: "a replacement", before: "old", prepare: (house: SweptHouse) => house.upload("old") },
])("$title is done or refused, whichever system call the unpacking process is killed at", async ({ before, prepare }) => {
  const node = await WatchedNode.make();
  const directory = await temporaryDirectory();
  const daemon = await startDaemon({ directory, launcher: node.launcher });
  onTestFinished(daemon.kill);
  await node.watch();
  const house = new SweptHouse(directory, daemon, new Map());
  for (const marker of ["old", "new"]) await house.learn(marker);

  await prepare(house);
  const counts = await node.during(() => house.upload("new"));
  for (const call of ["mkdir", "openat", "write", "fsync"]) expect(counts.get(call), call).toBeGreaterThan(2);
  for (const [call, count] of counts) {
    for (let number = 1; number <= count + surplus; number += 1) {
      const where = `${call} ${number}`;
      await prepare(house);
      await settled(directory);
      expect(await house.installed(), `before ${where}`).toBe(before);
      let refusal: unknown;
      await node.during(() => house.upload("new").catch((error: unknown) => void (refusal = error)), { call, count: number });
      totals.points += 1;
      totals.kills += Number(refusal !== undefined);

      expect(refusal, where).toSatisfy((error) => error === undefined || (error as { code?: string }).code === "INTERNAL_ERROR");
      expect(await house.installed(), `after ${where}`).toBe(refusal === undefined ? "new" : before);
      await settled(directory);
    }
  }
  expect(daemon.process.exitCode).toBeNull();
  await prepare(house);
  await house.upload("new");
  expect(await house.installed()).toBe("new");
});
