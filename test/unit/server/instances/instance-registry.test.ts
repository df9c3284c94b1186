import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "../../../../src/shared/api-error.js";
import { namesOf as namesById } from "../../../../src/server/instances/entry-position.js";
import { InstanceRegistry } from "../../../../src/server/instances/instance-registry.js";
import type { OwnInstance } from "../../../../src/server/instances/own-instance.js";
import { createLog } from "../../../../src/server/log/log.js";
import type { Heartbeat, LeaseStore } from "../../../../src/server/storage/lease-store.js";
import { FakeRecords } from "../../../support/fake-records.js";

const startMs = Date.parse("2026-01-01T00:00:00Z");
const checkMs = 10_000;
/** Time for which a registry keeps heartbeats. */
const memoryMs = 2_000;
const dayMs = 86_400_000;

let records: FakeRecords;
let heartbeats: Heartbeat[];
let heartbeatReads: number;
/** The primary sends heartbeats after this promise resolves. */
let primaryResponse: Promise<void>;
let registries: InstanceRegistry[];

beforeEach(() => {
  vi.useFakeTimers({ now: startMs });
  records = new FakeRecords();
  heartbeats = [];
  heartbeatReads = 0;
  primaryResponse = Promise.resolve();
  registries = [];
});

afterEach(() => {
  for (const registry of registries) registry.close();
  vi.useRealTimers();
});

/** Starts a daemon and waits until it has stored its row. */
async function start(id: string, changes: Partial<OwnInstance> & { isShared?: boolean } = {}): Promise<InstanceRegistry> {
  const { isShared = true, ...given } = changes;
  const own = { id, name: id.toUpperCase(), run: `${id}-1`, url: undefined, version: "1.2.3", startedAtMs: Date.now(), ...given };
  const readHeartbeats = async () => {
    heartbeatReads += 1;
    await primaryResponse;
    if (records.isAway) throw new ApiError("KEY_STORE_UNAVAILABLE", "The primary is away.");
    return heartbeats;
  };
  const leases = { heartbeats: readHeartbeats } as unknown as LeaseStore;
  const registry = new InstanceRegistry({ own, records, leases, isShared, log: createLog({ level: "silent" }) });
  registries.push(registry);
  heartbeats.push({ id, run: own.run, isLive: true });
  registry.start();
  await vi.advanceTimersByTimeAsync(0);
  return registry;
}

const namesOf = (registry: InstanceRegistry) => registry.others().map(({ name }) => name);

describe("the registry of daemons", () => {
  test("lists the other daemons by name, and writes one row per start of a daemon", async () => {
    const c = await start("c", { url: "http://10.0.0.13:8000" });
    const [a, b] = [await start("a"), await start("b")];

    await vi.advanceTimersByTimeAsync(10 * checkMs);

    expect([namesOf(a), namesOf(b), namesOf(c)]).toEqual([
      ["B", "C"],
      ["A", "C"],
      ["A", "B"],
    ]);
    expect(a.others()[1]).toMatchObject({ id: "c", run: "c-1", url: "http://10.0.0.13:8000", version: "1.2.3", startedAtMs: startMs });
    expect(records.changeCount).toBe(3);
  });

  test("counts a daemon as live only if its current run has a recent heartbeat", async () => {
    const a = await start("a");
    await start("b");
    expect((await a.readLive()).map(({ id }) => id)).toEqual(["b"]);

    heartbeats = [{ id: "b", run: "an earlier run", isLive: true }];
    await vi.advanceTimersByTimeAsync(memoryMs);
    expect(await a.readLive()).toEqual([]);
    await vi.advanceTimersByTimeAsync(memoryMs);
    records.isAway = true;
    expect((await a.readLive()).map(({ id }) => id)).toEqual(["b"]);
  });

  test("keeps heartbeats for 2 s unless a caller needs newer ones or a daemon registers", async () => {
    const a = await start("a");
    await start("b");
    await a.readLive();
    const reads = heartbeatReads;

    await vi.advanceTimersByTimeAsync(memoryMs - 1);
    for (let count = 0; count < 10; count += 1) expect((await a.readLive()).map(({ id }) => id)).toEqual(["b"]);
    expect(heartbeatReads - reads).toBe(0);
    await a.readLive({ maximumAgeMs: 0 });
    expect(heartbeatReads - reads).toBe(1);

    await vi.advanceTimersByTimeAsync(memoryMs);
    await a.readLive();
    expect(heartbeatReads - reads).toBe(2);

    await start("c");
    const readsOfStart = heartbeatReads;
    expect((await a.readLive()).map(({ id }) => id)).toEqual(["b", "c"]);
    expect(heartbeatReads - readsOfStart).toBe(1);
  });

  test("waits only once for a silent primary, and reads heartbeats after its recovery", async () => {
    const a = await start("a");
    await start("b");
    heartbeats = [];
    records.isAway = true;
    expect((await a.readLive()).map(({ id }) => id)).toEqual(["b"]);
    const gate = Promise.withResolvers<void>();
    primaryResponse = gate.promise;

    expect((await a.readLive()).map(({ id }) => id)).toEqual(["b"]);

    records.isAway = false;
    gate.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(await a.readLive()).toEqual([]);
  });

  test("registers a daemon as soon as the primary accepts changes", async () => {
    records.isAway = true;
    const [a, b] = [await start("a"), await start("b")];
    expect(namesOf(a)).toEqual([]);
    records.isAway = false;

    await vi.advanceTimersByTimeAsync(checkMs);

    expect([namesOf(a), namesOf(b)]).toEqual([["B"], ["A"]]);
  });

  test("registers a daemon again when its row in a restored primary is missing or old", async () => {
    const [a, b] = [await start("a"), await start("b")];
    const earlier = JSON.stringify({ name: "A", run: "a-0", version: "1.2.2", startedAtMs: startMs - 1 });
    records.rows = [{ kind: "instance", key: "a", value: earlier, revision: 3 }];
    records.listeners.notify("all");
    expect([namesOf(a), namesOf(b)]).toEqual([[], ["A"]]);

    await vi.advanceTimersByTimeAsync(checkMs);

    expect(a.others()).toMatchObject([{ id: "b", run: "b-1" }]);
    expect(b.others()).toMatchObject([{ id: "a", run: "a-1" }]);
  });

  test("keeps the row of the daemon that started last when two daemons have the same ID", async () => {
    const observer = await start("o");
    await start("a");
    vi.setSystemTime(startMs + 1);
    await start("a", { run: "copy" });

    await vi.advanceTimersByTimeAsync(10 * checkMs);

    expect(observer.others()).toMatchObject([{ id: "a", run: "copy" }]);
    expect(records.changeCount).toBe(3);

    await observer.setDraining({ id: "a", run: "copy" }, true);
    await vi.advanceTimersByTimeAsync(10 * checkMs);
    expect(records.rows).toContainEqual(expect.objectContaining({ kind: "instance-drain", key: "a" }));
  });

  test("registers a daemon even if the clock was ahead during its earlier run", async () => {
    const observer = await start("o");
    const earlier = await start("a", { startedAtMs: startMs + dayMs });
    earlier.close();
    const next = await start("a", { run: "a-2" });
    expect(observer.others()).toMatchObject([{ run: "a-1" }]);
    heartbeats = heartbeats.map((heartbeat) => ({ ...heartbeat, isLive: heartbeat.run !== "a-1" }));

    await vi.advanceTimersByTimeAsync(checkMs);

    expect(observer.others()).toMatchObject([{ run: next.own.run }]);
  });

  test("deletes daemons without a heartbeat for 1 day when another daemon starts", async () => {
    const a = await start("a");
    const b = await start("b");
    await a.setDraining({ id: "b", run: "b-1" }, true);
    b.close();
    heartbeats = heartbeats.filter(({ id }) => id !== "b");
    await start("c");
    expect(namesOf(a)).toEqual(["B", "C"]);

    vi.setSystemTime(startMs + dayMs + 1);
    await start("d");

    expect(namesOf(a)).toEqual(["C", "D"]);
    expect(records.rows.filter(({ key }) => key === "b")).toEqual([]);
  });

  test("ignores rows with an invalid ID, name or version", async () => {
    const a = await start("a");
    const row = { name: "b", run: "b-1", version: "1.2.3", startedAtMs: 1 };
    const rows = [{ name: 7 }, { name: "b\nevent: end" }, { name: "b:1,c" }, { name: "" }, { version: "1\n2" }];
    for (const changed of rows) await records.transact([{ kind: "instance", key: "x", value: JSON.stringify({ ...row, ...changed }) }]);
    await records.transact([{ kind: "instance", key: "x:1,y", value: JSON.stringify(row) }]);
    expect(namesOf(a)).toEqual([]);
    await records.transact([{ kind: "instance", key: "x", value: JSON.stringify(row) }]);
    expect(namesOf(a)).toEqual(["b"]);
  });

  test("finds a daemon by its id, and rejects a name that several daemons have", async () => {
    const a = await start("a", { name: "same" });
    await start("b", { name: "same" });
    expect(await a.get("b")).toMatchObject({ id: "b", name: "same" });
    await expect(a.get("same")).rejects.toThrow('Several daemons have the name "same". Use the id of one of them: a, b.');
    await expect(a.get("none")).rejects.toThrow("No daemon has the name or id");
  });

  test("resolves a name to the only daemon that has the name and a recent heartbeat", async () => {
    const a = await start("a");
    const earlier = await start("b", { name: "same" });
    earlier.close();
    await start("c", { name: "same" });
    const isReplaced = () => a.others().map((other) => a.isReplaced(other));
    await expect(a.get("same")).rejects.toThrow("Several daemons have the name");
    expect(isReplaced()).toEqual([false, false]);
    expect([...namesById(a)]).toEqual([
      ["a", "A"],
      ["b", "b"],
      ["c", "c"],
    ]);

    heartbeats = heartbeats.map((heartbeat) => ({ ...heartbeat, isLive: heartbeat.id !== "b" }));
    await vi.advanceTimersByTimeAsync(memoryMs);

    expect(await a.get("same")).toMatchObject({ id: "c" });
    expect(await a.get("b")).toMatchObject({ id: "b" });
    expect(isReplaced()).toEqual([true, false]);
    expect([...namesById(a)]).toEqual([
      ["a", "A"],
      ["b", "b"],
      ["c", "same"],
    ]);

    heartbeats = heartbeats.map((heartbeat) => ({ ...heartbeat, isLive: heartbeat.id === "a" }));
    await a.readLive({ maximumAgeMs: 0 });
    expect(isReplaced()).toEqual([false, false]);
  });
});

describe("the drain of a daemon", () => {
  test("affects only the selected daemon, and ends when an operator ends the drain", async () => {
    const [a, b] = [await start("a"), await start("b")];

    await a.setDraining({ id: "b", run: "b-1" }, true);
    expect([a.isDraining, b.isDraining]).toEqual([false, true]);

    await b.setDraining({ id: "b", run: "b-1" }, false);
    expect([a.isDraining, b.isDraining]).toEqual([false, false]);
  });

  test.each([true, false])("ends when the daemon restarts (with a primary: %s)", async (isShared) => {
    const a = await start("a", { isShared });
    await a.setDraining({ id: "a", run: "a-1" }, true);
    expect(a.isDraining).toBe(true);
    a.close();

    const next = await start("a", { run: "a-2", startedAtMs: startMs + 1, isShared });

    expect(next.isDraining).toBe(false);
    expect(records.rows.filter(({ kind }) => kind === "instance-drain")).toEqual([]);
  });

  test("is the only row that a daemon without a primary stores", async () => {
    const a = await start("a", { isShared: false });
    await vi.advanceTimersByTimeAsync(checkMs);
    expect(records.rows).toEqual([]);

    await a.setDraining({ id: "a", run: "a-1" }, true);
    expect(records.rows).toMatchObject([{ kind: "instance-drain", key: "a" }]);
  });
});

test("a daemon without a primary ignores rows of other daemons from a restored backup", async () => {
  await start("b");
  const a = await start("a", { isShared: false });

  expect(a.others()).toEqual([]);
  expect(await a.readLive()).toEqual([]);
  await expect(a.get("b")).rejects.toThrow("No daemon has the name or id");
});
