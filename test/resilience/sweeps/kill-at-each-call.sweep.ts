import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../support/start-daemon.js";
import { startRegistry } from "../../support/start-registry.js";
import { sweepTotals } from "../../support/sweep-totals.js";
import { settled, SweepHarness } from "../../support/sweep-harness.js";
import { expectFollowed, isOfKeys, sweptChanges, type SweptChange } from "../../support/swept-changes.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { traceCalls, type ThreadRole } from "../../support/trace-calls.js";

/** Extra calls beyond the counted ones: a busy daemon makes a few more or fewer each time. */
const surplus = 2;

/** Time in which a daemon with a package store follows its index after a start. The directory store has the right state at once. */
const followMs = 30_000;

const stores: Record<string, () => Promise<{ readonly followMs: number; readonly variables: Record<string, string> }>> = {
  "the directory store": () => Promise.resolve({ followMs: 0, variables: {} }),
  "an OCI registry": async () => {
    const registry = await startRegistry();
    onTestFinished(registry.dispose);
    return { followMs, variables: { RUNTIME_PACKAGE_STORE: `oci:${registry.url}/team/runtimed` } };
  },
};
const cases = Object.entries(stores).flatMap(([store, open]) =>
  Object.entries(sweptChanges)
    .filter(([what]) => store === "the directory store" || !isOfKeys(what))
    .map(([what, change]) => [`${what} with ${store}`, change, open] as const),
);

const totals = sweepTotals();

test.for(cases)("a change is completed or reverted when the daemon is killed at any call (%s)", async ([, change, open]) => {
  const store = await open();
  const directory = await temporaryDirectory();
  const digests = new Map<string, string>();
  const start = async () => {
    const daemon = await startDaemon({ directory, env: { UV_THREADPOOL_SIZE: "1", ...store.variables } });
    onTestFinished(daemon.kill);
    return new SweepHarness(directory, daemon, digests);
  };
  let harness = await start();
  for (const marker of ["old", "new"]) await harness.learn(marker);

  for (const role of ["main", "other"] as const) {
    await change.prepare(harness);
    await settled(directory);
    for (const [call, count] of await countCalls(harness, role, change)) {
      for (let number = 1; number <= count + surplus; number += 1) {
        const where = `${call} ${number} of the ${role} thread`;
        await change.prepare(harness);
        await settled(directory);
        expect(await change.state(harness), `before ${where}`).toBe(change.before);
        const { isDone, isKilled } = await killedAt(harness, role, { call, count: number }, change);
        totals.points += 1;
        totals.kills += Number(isKilled);

        harness = await start();

        const allowed = isDone ? [change.after] : [change.before, change.after];
        await expectFollowed(() => change.state(harness), allowed, { where, withinMs: store.followMs });
        await settled(directory);
        expect(allowed, `after ${where}`).toContain(await change.state(harness));
      }
    }
  }
  await change.prepare(harness);
  await change.run(harness);
  expect(await change.state(harness)).toBe(change.after);
});

/** Counts the calls of a thread during the change. */
async function countCalls(harness: SweepHarness, role: ThreadRole, change: SweptChange): Promise<Map<string, number>> {
  const trace = await traceCalls({ pid: harness.daemon.process.pid as number, role, output: traceIn(harness.directory) });
  await change.run(harness);
  await settled(harness.directory);
  const counts = await trace.stop();
  // In this thread, files are only opened for reading, repeatedly: the catalog looks for changes.
  if (role === "main") counts.delete("openat");
  return counts;
}

/** Makes the change and kills the daemon at that call or after the change. */
async function killedAt(harness: SweepHarness, role: ThreadRole, killAt: { call: string; count: number }, change: SweptChange) {
  const trace = await traceCalls({ pid: harness.daemon.process.pid as number, role, output: traceIn(harness.directory), killAt });
  const isDone = await change.run(harness).then(
    () => true,
    () => false,
  );
  if (isDone) await settled(harness.directory, () => harness.daemon.process.signalCode !== null);
  const isKilled = !isDone || harness.daemon.process.signalCode !== null;
  await harness.daemon.kill();
  await trace.stop();
  return { isDone, isKilled };
}

const traceIn = (directory: string) => path.join(directory, "trace.txt");
