import path from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { LocalKeyStore } from "../../../src/server/access/local-key-store.js";
import { Primary } from "../../../src/server/access/replica/primary-client.js";
import { createLog } from "../../../src/server/log/log.js";
import type { LeaseRequest, LeaseStore } from "../../../src/server/storage/lease-store.js";
import { openReplicatedStore } from "../../support/open-replicated-store.js";
import { startSqld } from "../../support/start-sqld.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

interface OpenedLeases {
  readonly leases: LeaseStore;
  /** Runs SQL in the store's database. */
  readonly execute: (sql: string) => Promise<void>;
}

async function openLocal(): Promise<OpenedLeases> {
  const stateDirectory = await temporaryDirectory();
  const store = new LocalKeyStore({ stateDirectory, log: createLog({ level: "silent" }) });
  onTestFinished(() => store.close());
  return {
    leases: store.leases,
    execute: async (sql) => {
      const database = new Database(path.join(stateDirectory, "leases.db"));
      database.exec(sql);
      database.close();
    },
  };
}

async function startPrimary() {
  const sqld = await startSqld();
  onTestFinished(sqld.dispose);
  const client = await Primary.at({ url: sqld.url, token: undefined });
  onTestFinished(() => client.close());
  return { sqld, execute: async (sql: string) => void (await client.write({ sql, values: [] })) };
}

async function openPrimary(): Promise<OpenedLeases> {
  const { sqld, execute } = await startPrimary();
  const { store } = await openReplicatedStore(sqld.url);
  return { leases: store.leases, execute };
}

const stopHolders = "UPDATE heartbeats SET seen_ms = seen_ms - 31000, id = id || ' stopped'";
const stopOldHolders = "UPDATE heartbeats SET seen_ms = seen_ms - 31000";

function requestAt(slotMs: number, changes: Partial<LeaseRequest> = {}): LeaseRequest {
  return { name: `job ${slotMs}`, queue: "job", slotMs, token: `token of ${slotMs}`, detail: "{}", ...changes };
}

describe.each([
  ["a local file", openLocal],
  ["a primary", openPrimary],
])("a lease store (storage: %s)", (_name, open) => {
  test("grants a lease to only one caller, and repeats the result for a repeated request", async () => {
    const { leases } = await open();
    const slot = requestAt(Date.now());

    expect(await leases.has(slot.name)).toBe(false);
    const claims = await Promise.all(Array.from({ length: 20 }, (_, index) => leases.take({ ...slot, token: String(index) })));
    const winner = claims.indexOf("mine");

    expect(claims.toSorted()).toEqual(["mine", ...Array.from({ length: 19 }, () => "taken")]);
    expect(await leases.take({ ...slot, token: String(winner) })).toBe("mine");
    expect(await leases.has(slot.name)).toBe(true);
    await leases.end(slot.name, String(winner), "ran", '{"status":200}');
    expect(await leases.take({ ...slot, token: "new" })).toBe("taken");
    expect(await leases.list(["job"], 10)).toMatchObject([
      { name: slot.name, state: "ran", result: '{"status":200}', slotMs: slot.slotMs },
    ]);
  });

  test("records a requested lease as skipped while another lease of its queue is held", async () => {
    const { leases } = await open();
    const now = Date.now();
    const [first, second, third] = [requestAt(now), requestAt(now + 1), requestAt(now + 2)];

    expect(await leases.take(first)).toBe("mine");
    expect(await leases.take(second)).toBe("blocked");
    expect(await leases.take({ ...second, token: "other" })).toBe("taken");
    expect(await leases.take(requestAt(now, { name: "else", queue: "else" }))).toBe("mine");
    await leases.end(first.name, first.token, "ran", "{}");
    expect(await leases.take(third)).toBe("mine");

    expect((await leases.list(["job"], 2)).map(({ name, state }) => [name, state])).toEqual([
      [third.name, "taken"],
      [second.name, "skipped"],
      [first.name, "ran"],
    ]);
  });

  test("rejects slots more than 5 s away, and settle() records past slots as skipped", async () => {
    const { leases } = await open();
    const past = requestAt(Date.now() - 6_000);
    const future = requestAt(Date.now() + 8_000);

    expect(await leases.take(past)).toBe("late");
    expect(await leases.take(future)).toBe("late");
    expect(await leases.list(["job"], 10)).toEqual([]);
    await leases.settle([past, future]);
    await leases.settle([past, future]);

    expect(await leases.list(["job"], 10)).toMatchObject([{ name: past.name, state: "skipped" }]);
  });

  test("marks leases of stopped holders as `unknown`, and never grants them again", async () => {
    const { leases, execute } = await open();
    const now = Date.now();
    const [first, second] = [requestAt(now), requestAt(now + 1)];
    await leases.take(first);
    expect((await leases.settle([])).unknown).toEqual([]);
    await execute(stopHolders);

    const { unknown, liveInstances } = await leases.settle([]);

    expect(liveInstances).toHaveLength(1);
    // This store itself is the holder, and `settle` reports its heartbeat in the same transaction.
    expect(unknown).toEqual([]);
    await execute(`UPDATE leases SET holder = 'stopped'`);
    expect((await leases.settle([])).unknown).toMatchObject([{ name: first.name, state: "unknown" }]);
    expect(await leases.take({ ...first, token: "other" })).toBe("taken");
    expect(await leases.take(second)).toBe("mine");
    await leases.end(first.name, first.token, "ran", "{}");
    expect(await leases.list(["job"], 10)).toMatchObject([{ state: "taken" }, { state: "ran" }]);
  });

  test("reports a holder as live after a heartbeat, and as not live after its end", async () => {
    const { leases, execute } = await open();
    expect(await leases.heartbeats()).toEqual([]);
    await leases.settle([]);
    expect(await leases.heartbeats()).toMatchObject([{ isLive: true }]);
    await execute(stopOldHolders);
    expect(await leases.heartbeats()).toMatchObject([{ isLive: false }]);
    await leases.settle([]);
    const request = requestAt(Date.now());
    await leases.take(request);

    await leases.leave();

    expect(await leases.heartbeats()).toMatchObject([{ isLive: false }]);
    await execute("UPDATE leases SET holder = replace(holder, '/', ' stopped/')");
    expect((await leases.settle([])).unknown).toMatchObject([{ name: request.name }]);
  });

  test("keeps the newest 50 leases of a queue, and every held lease", async () => {
    const { leases, execute } = await open();
    const now = Date.now();
    await leases.take(requestAt(now - 4_000, { queue: "other" }));
    for (let slot = 0; slot < 60; slot += 1) {
      const request = requestAt(now - 3_000 + slot);
      expect(await leases.take(request)).toBe("mine");
      await leases.end(request.name, request.token, "ran", "{}");
    }
    await execute(stopOldHolders);

    const kept = await leases.list(["job", "other", "none"], 100);

    expect(kept.filter(({ queue }) => queue === "job").map(({ slotMs }) => slotMs)).toEqual(
      Array.from({ length: 50 }, (_, index) => now - 3_000 + 59 - index),
    );
    expect(kept.filter(({ queue }) => queue === "other")).toMatchObject([{ state: "taken" }]);
    expect(await leases.list(["job"], 3)).toHaveLength(3);
  });
});

describe.each([
  ["a local file", openLocal],
  ["a primary", openPrimary],
])("a lease store with many or old leases (storage: %s)", (_name, open) => {
  test("lists a held lease and the last lease that ran, even after many skipped leases", async () => {
    const { leases } = await open();
    const now = Date.now() - 4_000;
    const [ran, held] = [requestAt(now), requestAt(now + 1)];
    await leases.take(ran);
    await leases.end(ran.name, ran.token, "ran", "{}");
    expect(await leases.take(held)).toBe("mine");
    const missed = Array.from({ length: 70 }, (_, index) => requestAt(now + 2 + index));
    for (const request of missed) expect(await leases.take(request)).toBe("blocked");

    const listed = await leases.list(["job"], 5);
    expect(listed.map(({ state }) => state)).toEqual([...Array.from({ length: 5 }, () => "skipped"), "taken", "ran"]);
    await leases.end(held.name, held.token, "ran", "{}");

    const kept = await leases.list(["job"], 100);
    expect(kept.map(({ state }) => state)).toEqual([...Array.from({ length: 50 }, () => "skipped"), "ran", "ran"]);
  });

  test("deletes leases by queue prefix and time, and also deletes old heartbeats", async () => {
    const { leases, execute } = await open();
    const now = Date.now();
    const requests = ["cron app GET /", "cron app-2 GET /"].map((queue) => requestAt(now, { name: queue, queue }));
    for (const request of requests) await leases.take(request);
    await execute("UPDATE leases SET slot_ms = slot_ms - 6000");
    await leases.take(requestAt(now, { name: "new", queue: "cron app GET /" }));
    await execute("INSERT INTO heartbeats SELECT 'old', 'old', seen_ms - 86400001 FROM heartbeats");

    await leases.forget("cron app ", now);
    await leases.settle([]);

    const left = await leases.list(["cron app GET /", "cron app-2 GET /"], 10);
    expect(left.map(({ name }) => name).toSorted()).toEqual(["cron app-2 GET /", "new"]);
    await execute("INSERT INTO heartbeats VALUES ('old', 'old', 0)");
  });
});

describe("the lease stores of several daemons with one primary", () => {
  test("grant each of 30 leases to exactly one daemon", async () => {
    const { sqld } = await startPrimary();
    const stores = await Promise.all([1, 2, 3].map(async () => (await openReplicatedStore(sqld.url)).store.leases));

    for (let slot = 0; slot < 30; slot += 1) {
      const request = requestAt(Date.now(), { name: `slot ${slot}`, queue: `queue ${slot}` });
      const claims = await Promise.all(stores.map((leases, index) => leases.take({ ...request, token: String(index) })));
      expect(claims.toSorted()).toEqual(["mine", "taken", "taken"]);
    }

    const { liveInstances } = await (stores[0] as LeaseStore).settle([]);
    expect(liveInstances).toHaveLength(3);
  });

  test("mark no lease as `unknown` when the daemons' machines have the same host name", async () => {
    const { sqld, execute } = await startPrimary();
    const [first, second] = [(await openReplicatedStore(sqld.url)).store.leases, (await openReplicatedStore(sqld.url)).store.leases];
    await Promise.all([first.settle([]), second.settle([])]);
    await execute("UPDATE heartbeats SET id = 'same'");
    await execute("INSERT INTO leases SELECT run, run, '', id || '/' || run, '', 'taken', 0, '{}', NULL FROM heartbeats");

    expect((await first.settle([])).unknown).toEqual([]);
    expect((await second.settle([])).unknown).toEqual([]);
  });

  test("can list leases while another client holds the write lock", async () => {
    const { sqld, execute } = await startPrimary();
    const { store } = await openReplicatedStore(sqld.url);
    expect(await store.leases.list(["job"], 1)).toEqual([]);
    await store.leases.take(requestAt(Date.now()));
    const slow = execute(`INSERT INTO leases WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500000)
      SELECT 'slow', 'slow', '', '', '', 'ran', max(i), '{}', NULL FROM n`);

    expect(await store.leases.has("slow")).toBe(false);
    expect(await store.leases.list(["job"], 1)).toHaveLength(1);
    await slow;
  });

  test("reject all requests and store no lease while the primary is unreachable", async () => {
    const { sqld } = await startPrimary();
    const { store } = await openReplicatedStore(sqld.url);
    await sqld.kill();
    const slot = requestAt(Date.now());

    const { leases } = store;
    const requests = [() => leases.take(slot), () => leases.settle([]), () => leases.list(["job"], 1), () => leases.has("job")];
    for (const request of [...requests, () => leases.forget("job", 0)])
      await expect(request()).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE" });

    await sqld.restart();
    await expect.poll(() => store.readState().isWritable, { timeout: 20_000 }).toBe(true);
    expect(await store.leases.list(["job"], 1)).toEqual([]);
  });
});
