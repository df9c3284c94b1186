import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { entriesOf } from "../support/entries-of.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { traceCalls, type ThreadRole } from "../support/trace-calls.js";
import { treeDigest } from "../support/tree-digest.js";

/** How many calls past those that were counted are tried: a busy daemon makes a few more or fewer each time. */
const surplus = 2;
const version = "1.0.0";

/** A change in two states, before and after; `state` says which of the two holds, or something else when neither does. */
interface Change {
  /** Brings about the state before it. */
  readonly prepare: (house: House) => Promise<unknown>;
  readonly run: (house: House) => Promise<unknown>;
  readonly state: (house: House) => Promise<string>;
  readonly before: string;
  readonly after: string;
}

/** A daemon that was started anew on what the one before left. */
class House {
  readonly directory: string;
  readonly daemon: TestDaemon;
  readonly client: Client;
  readonly #digests: ReadonlyMap<string, string>;

  constructor(directory: string, daemon: TestDaemon, digests: ReadonlyMap<string, string>) {
    this.directory = directory;
    this.daemon = daemon;
    this.client = connect(daemon.url, daemon.rootKey);
    this.#digests = digests;
  }

  async upload(marker: string): Promise<void> {
    await this.client.workers.upload({ file: uploadOf("app.tgz", await archiveOf(marker)) });
  }

  async remove(): Promise<void> {
    const workers = await this.client.workers.list();
    if (workers.some(({ name }) => name === "app")) await this.client.workers.remove({ params: { scope: "_", name: "app" } });
  }

  /** The marker of what is installed, on disk and over HTTP; "missing" where there is nothing. */
  async installed(): Promise<string> {
    const digest = await treeDigest(path.join(this.directory, "workers", "app"));
    const marker = digest === "missing" ? "missing" : (this.#digests.get(digest) ?? `a mixture: ${digest}`);
    const answer = await fetch(`${this.daemon.url}/app/`);
    const served = answer.status === 404 ? "missing" : await answer.text();
    return served === marker ? marker : `${marker} on disk, and ${served} served`;
  }

  async enabled(): Promise<string> {
    const app = (await this.client.workers.list()).find(({ name }) => name === "app");
    return app?.disabledVersions.length === 0 ? "enabled" : "disabled";
  }

  async keyNames(): Promise<string[]> {
    return (await this.client.keys.list()).keys.map(({ name }) => name);
  }

  async revokeAll(): Promise<void> {
    for (const { id } of (await this.client.keys.list()).keys) await this.client.keys.revoke({ params: { id: String(id) } });
  }
}

async function archiveOf(marker: string): Promise<Buffer> {
  return await packFiles({
    "manifest.yaml": manifestOf("app", version),
    "index.html": marker,
    "lib/a.txt": marker,
    "lib/deep/b.txt": marker,
  });
}

const versionParams = { scope: "_", name: "app", version };
const keyState = async (house: House) => (await house.keyNames()).join() || "none";

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

const totals = { points: 0, kills: 0, startedAt: performance.now() };
afterAll(() => {
  const minutes = ((performance.now() - totals.startedAt) / 60_000).toFixed(1);
  process.stdout.write(`\n${totals.points} points, ${totals.kills} kills, ${minutes} minutes\n`);
});

test.for(Object.entries(changes))("%s is wholly done or not at all, whichever system call the daemon is killed at", async ([, change]) => {
  const directory = await temporaryDirectory();
  const digests = new Map<string, string>();
  const start = async () => {
    const daemon = await startDaemon({ directory, env: { UV_THREADPOOL_SIZE: "1" } });
    onTestFinished(daemon.kill);
    return new House(directory, daemon, digests);
  };
  let house = await start();
  for (const marker of ["old", "new"]) {
    await house.upload(marker);
    digests.set(await treeDigest(path.join(directory, "workers", "app")), marker);
  }

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
async function countCalls(house: House, role: ThreadRole, change: Change): Promise<Map<string, number>> {
  const trace = await traceCalls({ pid: house.daemon.process.pid as number, role, output: traceIn(house.directory) });
  await change.run(house);
  await settled(house.directory);
  const counts = await trace.stop();
  // There, files are opened for reading only, time and again: the looks at the catalog.
  if (role === "main") counts.delete("openat");
  return counts;
}

/** Makes the change, and kills the daemon at that call, or when all is done. */
async function killedAt(house: House, role: ThreadRole, killAt: { call: string; count: number }, change: Change) {
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

/** Waits until nothing is left of what was tried, or until that cannot be waited for any more. */
async function settled(directory: string, isHopeless = () => false): Promise<void> {
  const leftovers = async () => {
    if (isHopeless()) return [];
    const names = [...entriesOf(path.join(directory, "workers")), ...(await readdir(path.join(directory, "state", "spool")))];
    return names.filter((name) => name !== "app");
  };
  await expect.poll(leftovers).toEqual([]);
}
