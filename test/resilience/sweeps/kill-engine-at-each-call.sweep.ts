import path from "node:path";
import type { ChildProcess } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../support/start-daemon.js";
import { startRegistry } from "../../support/start-registry.js";
import { startSqld } from "../../support/start-sqld.js";
import { sweepTotals } from "../../support/sweep-totals.js";
import { settled, SweepHarness } from "../../support/sweep-harness.js";
import { expectFollowed, isOfKeys, sweptChanges, type SweptChange } from "../../support/swept-changes.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { traceCalls, type KillAt } from "../../support/trace-calls.js";

/** Extra calls beyond the counted ones: a server makes a few more or fewer each time. */
const surplus = 1;
/** Time in which the daemon uses a server again after the server has restarted, and has followed its index. */
const recoveredMs = 30_000;

interface Engine {
  readonly process: () => ChildProcess;
  readonly kill: () => Promise<void>;
  readonly restart: () => Promise<void>;
}

const engines = ["sqld", "docker-registry"] as const;
const cases = engines.flatMap((engine) =>
  Object.entries(sweptChanges)
    .filter(([what]) => engine === "sqld" || !isOfKeys(what))
    .map(([what, change]) => [`${what}, ${engine}`, change, engine] as const),
);

const totals = sweepTotals();

test.for(cases)("a change is completed or reverted when its server is killed at any call (%s)", async ([, change, name]) => {
  const [sqld, registry] = await Promise.all([startSqld(), startRegistry()]);
  onTestFinished(async () => void (await Promise.all([sqld.dispose(), registry.dispose()])));
  const engine: Engine = name === "sqld" ? sqld : registry;
  const directory = await temporaryDirectory();
  const daemon = await startDaemon({
    directory,
    env: {
      RUNTIME_PACKAGE_STORE: `oci:${registry.url}/team/runtimed`,
      RUNTIME_AUTH_DB_MODE: "sync",
      RUNTIME_AUTH_DB_SYNC_URL: sqld.url,
    },
  });
  onTestFinished(daemon.kill);
  const harness = new SweepHarness(directory, daemon, new Map());
  for (const marker of ["old", "new"]) await harness.learn(marker);
  const output = path.join(directory, "trace.txt");

  await change.prepare(harness);
  await settled(directory);
  const trace = await traceCalls({ pid: engine.process().pid as number, role: "all", output });
  await change.run(harness);
  await settled(directory);
  for (const [call, count] of await trace.stop()) {
    for (let number = 1; number <= count + surplus; number += 1) {
      const where = `${call} ${number}`;
      await prepared(change, harness, where);
      const { isDone, isKilled } = await killedAt(engine, { call, count: number }, { output, run: () => change.run(harness) });
      totals.points += 1;
      totals.kills += Number(isKilled);
      await engine.restart();
      await followed(harness);
      const allowed = isDone ? [change.after] : [change.before, change.after];
      await expectFollowed(() => change.state(harness), allowed, { where, withinMs: recoveredMs });
      await settled(directory);
      expect(allowed, `after ${where}`).toContain(await change.state(harness));
    }
  }
});

/** Waits until the daemon has all changes of the primary, among them one whose response was lost. */
async function followed({ client }: SweepHarness): Promise<void> {
  const restartedAt = performance.now();
  const lagMs = async () => ((await client.instances.list()).find(({ isSelf }) => isSelf)?.lagSeconds ?? Infinity) * 1000;
  const isFollowed = async () => (await lagMs()) < performance.now() - restartedAt;
  await expect.poll(isFollowed, { timeout: recoveredMs }).toBe(true);
}

/** Restores the state before the change. Tries again while the daemon still rejects changes, because the server was down. */
async function prepared(change: SweptChange, harness: SweepHarness, where: string): Promise<void> {
  await expect
    .poll(() => change.prepare(harness).then(() => "accepted", String), { timeout: recoveredMs, message: `before ${where}` })
    .toBe("accepted");
  await settled(harness.directory);
  await expectFollowed(() => change.state(harness), [change.before], { where: `the preparation of ${where}`, withinMs: recoveredMs });
}

/** Makes the change and kills the server at that call or after the change. */
async function killedAt(engine: Engine, killAt: KillAt, { output, run }: { output: string; run: () => Promise<unknown> }) {
  const server = engine.process();
  const trace = await traceCalls({ pid: server.pid as number, role: "all", output, killAt });
  const isDone = await run().then(
    () => true,
    () => false,
  );
  const isKilled = server.signalCode !== null;
  await engine.kill();
  await trace.stop();
  return { isDone, isKilled };
}
