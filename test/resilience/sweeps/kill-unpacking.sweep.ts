import { chmod, copyFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../support/start-daemon.js";
import { sweepTotals } from "../../support/sweep-totals.js";
import { settled, SweepHarness } from "../../support/sweep-harness.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { countsIn, straceOptions, type KillAt } from "../../support/trace-calls.js";

/** Extra calls beyond the counted ones. */
const surplus = 2;

/** A copy of Node for a daemon. After the start, strace watches each process that it starts to unpack an archive. */
class WatchedNode {
  readonly launcher: readonly string[];
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.launcher = ["sh", "-c", `exec ${this.#in("node")} "$@"`];
  }

  static async make(): Promise<WatchedNode> {
    const folder = await temporaryDirectory();
    // Isolates can run as other users.
    await chmod(folder, 0o711);
    await copyFile(process.execPath, path.join(folder, "node"));
    return new WatchedNode(folder);
  }

  /** The daemon has started and uses the same path for new processes. */
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

  /** Runs `work` while strace watches unpacking processes or kills them at a call. Returns the count of each call. */
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
  { title: "an installation", before: "missing", prepare: (harness: SweepHarness) => harness.remove() },
  { title: "a replacement", before: "old", prepare: (harness: SweepHarness) => harness.upload("old") },
])("an upload is completed or rejected when its unpacker is killed ($title)", async ({ before, prepare }) => {
  const node = await WatchedNode.make();
  const directory = await temporaryDirectory();
  const daemon = await startDaemon({ directory, launcher: node.launcher });
  onTestFinished(daemon.kill);
  await node.watch();
  const harness = new SweepHarness(directory, daemon, new Map());
  for (const marker of ["old", "new"]) await harness.learn(marker);

  await prepare(harness);
  const counts = await node.during(() => harness.upload("new"));
  for (const call of ["mkdir", "openat", "write", "fsync"]) expect(counts.get(call), call).toBeGreaterThan(2);
  for (const [call, count] of counts) {
    for (let number = 1; number <= count + surplus; number += 1) {
      const where = `${call} ${number}`;
      await prepare(harness);
      await settled(directory);
      expect(await harness.installed(), `before ${where}`).toBe(before);
      let refusal: unknown;
      await node.during(() => harness.upload("new").catch((error: unknown) => void (refusal = error)), { call, count: number });
      totals.points += 1;
      totals.kills += Number(refusal !== undefined);

      expect(refusal, where).toSatisfy((error) => error === undefined || (error as { code?: string }).code === "INTERNAL_ERROR");
      expect(await harness.installed(), `after ${where}`).toBe(refusal === undefined ? "new" : before);
      await settled(directory);
    }
  }
  expect(daemon.process.exitCode).toBeNull();
  await prepare(harness);
  await harness.upload("new");
  expect(await harness.installed()).toBe("new");
});
