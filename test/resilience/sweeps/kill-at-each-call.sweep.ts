import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../support/start-daemon.js";
import { sweepTotals } from "../../support/sweep-totals.js";
import { settled, SweptHouse, sweptVersion } from "../../support/swept-house.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { traceCalls, type ThreadRole } from "../../support/trace-calls.js";

/** How many calls past those that were counted are tried: a busy daemon makes a few more or fewer each time. */
const surplus = 2;

/** A change in two states, before and after; `state` says which of the two holds, or something else when neither does. */
interface Change {
  /** Brings about the state before it. */
  readonly prepare: (house: SweptHouse) => Promise<unknown>;
  readonly run: (house: SweptHouse) => Promise<unknown>;
  readonly state: (house: SweptHouse) => Promise<string>;
  readonly before: string;
  readonly after: string;
}

const versionParams = { scope: "_", name: "app", version: sweptVersion };
const keyState = async (house: SweptHouse) => (await house.keyNames()).join() || "none";

const changes: Record<string, Change> = {
  "an installation": {
    prepare: (house) => house.remove(),
    run: (house) => house.upload("new"),
    state: (house) => house.installed(),
    before: "missing",
    after: "new",
  },
  "a replacement": {
    prepare: (house) => house.upload("old"),
    run: (house) => house.upload("new"),
    state: (house) => house.installed(),
    before: "old",
    after: "new",
  },
  "a deletion": {
    prepare: (house) => house.upload("old"),
    run: (house) => house.remove(),
    state: (house) => house.installed(),
    before: "old",
    after: "missing",
  },
  "a toggle": {
    prepare: (house) => house.upload("old"),
    run: (house) => house.client.workers.disable({ params: versionParams }),
    state: (house) => house.enabled(),
    before: "enabled",
    after: "disabled",
  },
  "a key that is made": {
    prepare: (house) => house.revokeAll(),
    run: (house) => house.client.keys.create({ body: { name: "made", role: "viewer" } }),
    state: keyState,
    before: "none",
    after: "made",
  },
  "a key that is revoked": {
    prepare: async (house) => {
      await house.revokeAll();
      await house.client.keys.create({ body: { name: "made", role: "viewer" } });
    },
    run: (house) => house.revokeAll(),
    state: keyState,
    before: "made",
    after: "none",
  },
};

const totals = sweepTotals();

test.for(Object.entries(changes))("%s is wholly done or not at all, whichever system call the daemon is killed at", async ([, change]) => {
  const directory = await temporaryDirectory();
  const digests = new Map<string, string>();
  const start = async () => {
    const daemon = await startDaemon({ directory, env: { UV_THREADPOOL_SIZE: "1" } });
    onTestFinished(daemon.kill);
    return new SweptHouse(directory, daemon, digests);
  };
  let house = await start();
  for (const marker of ["old", "new"]) await house.learn(marker);

  for (const role of ["main", "other"] as const) {
    await change.prepare(house);
    await settled(directory);
    for (const [call, count] of await countCalls(house, role, change)) {
      for (let number = 1; number <= count + surplus; number += 1) {
        const where = `${call} ${number} of the ${role} thread`;
        await change.prepare(house);
        await settled(directory);
        expect(await change.state(house), `before ${where}`).toBe(change.before);
        const { isDone, isKilled } = await killedAt(house, role, { call, count: number }, change);
        totals.points += 1;
        totals.kills += Number(isKilled);

        house = await start();

        expect(isDone ? [change.after] : [change.before, change.after], `after ${where}`).toContain(await change.state(house));
        await settled(directory);
      }
    }
  }
  await change.prepare(house);
  await change.run(house);
  expect(await change.state(house)).toBe(change.after);
});

/** How often the change has a thread make each call. */
async function countCalls(house: SweptHouse, role: ThreadRole, change: Change): Promise<Map<string, number>> {
  const trace = await traceCalls({ pid: house.daemon.process.pid as number, role, output: traceIn(house.directory) });
  await change.run(house);
  await settled(house.directory);
  const counts = await trace.stop();
  // There, files are opened for reading only, time and again: the looks at the catalog.
  if (role === "main") counts.delete("openat");
  return counts;
}

/** Makes the change, and kills the daemon at that call, or when all is done. */
async function killedAt(house: SweptHouse, role: ThreadRole, killAt: { call: string; count: number }, change: Change) {
  const trace = await traceCalls({ pid: house.daemon.process.pid as number, role, output: traceIn(house.directory), killAt });
  const isDone = await change.run(house).then(
    () => true,
    () => false,
  );
  if (isDone) await settled(house.directory, () => house.daemon.process.signalCode !== null);
  const isKilled = !isDone || house.daemon.process.signalCode !== null;
  await house.daemon.kill();
  await trace.stop();
  return { isDone, isKilled };
}

const traceIn = (directory: string) => path.join(directory, "trace.txt");
