import { beforeEach, describe, expect, test } from "vitest";
import { ApiError } from "../../../../src/shared/api-error.js";
import { Signals, type Signal } from "../../../../src/server/instances/signals.js";
import { createLog } from "../../../../src/server/log/log.js";
import { FakeRecords } from "../../../support/fake-records.js";

const restart = (name: string): Signal => ({ type: "restart-worker", name, version: "1.0.0" });

let records: FakeRecords;
/** Time of the primary at the start of all daemons, in Unix milliseconds. Undefined while it is unknown. */
let primaryMs: number | undefined;

beforeEach(() => {
  records = new FakeRecords();
  primaryMs = 50_000;
});

function nowMs(): number {
  if (primaryMs === undefined) throw new ApiError("KEY_STORE_UNAVAILABLE", "The primary is away.");
  return primaryMs;
}

function open(run: string): { signals: Signals; received: Signal[] } {
  const received: Signal[] = [];
  const onSignal = async (signal: Signal) => void received.push(signal);
  const options = { records, run, nowMs, countOthers: async () => 2, onSignal, log: createLog({ level: "silent" }) };
  return { signals: new Signals(options), received };
}

describe("signals between daemons", () => {
  test("reach the other daemons once, and not their sender", async () => {
    const [a, b] = [open("a"), open("b")];

    expect(await a.signals.send(restart("shop"))).toEqual({ notified: 2 });
    await b.signals.send(restart("blog"));
    await a.signals.send({ type: "reload-plugins", namespaces: ["*"] });

    expect(a.received).toEqual([restart("blog")]);
    expect(b.received).toEqual([restart("shop"), { type: "reload-plugins", namespaces: ["*"] }]);
  });

  test("do not reach a daemon that starts later or has closed", async () => {
    const [a, b] = [open("a"), open("b")];
    b.signals.close();
    await a.signals.send(restart("shop"));
    const c = open("c");

    records.listeners.notify("all");

    expect([b.received, c.received]).toEqual([[], []]);
  });

  test("are received once when the daemon reads all records again", async () => {
    const [a, b] = [open("a"), open("b")];
    await a.signals.send(restart("shop"));
    const value = JSON.stringify({ run: "a", sentAtMs: nowMs(), signal: restart("late") });
    records.rows.push({ kind: "signal", key: "x", value, revision: 9 });
    records.revision = 9;

    records.listeners.notify("all");
    records.listeners.notify("all");

    expect(b.received).toEqual([restart("shop"), restart("late")]);
  });

  test("are received after the primary was restored to an older revision", async () => {
    const [a, b] = [open("a"), open("b")];
    records.revision = 3;
    records.listeners.notify("all");

    await a.signals.send(restart("shop"));

    expect(b.received).toEqual([restart("shop")]);
  });

  test("are ignored when they were sent before the start of the daemon", async () => {
    const b = open("b");
    const send = (sentAtMs: number, name: string) => {
      const value = JSON.stringify({ run: "a", sentAtMs, signal: restart(name) });
      records.listeners.notify([{ kind: "signal", key: name, value, revision: 8 }]);
    };
    send(nowMs() - 60_000, "old");
    send(nowMs() - 500, "new");
    primaryMs = undefined;
    send(50_000, "of an unknown age");

    expect(b.received).toEqual([restart("new")]);
  });

  test("do not replace each other when they reload plugins of different namespaces", async () => {
    const { signals } = open("a");
    for (const namespaces of [["@a", "@b"], ["@b", "@a"], ["*"]]) await signals.send({ type: "reload-plugins", namespaces });

    expect(records.rows.map(({ key }) => key)).toEqual(["reload-plugins @a,@b", "reload-plugins *"]);
  });

  test("are ignored when their type is unknown", async () => {
    const { received } = open("b");
    const value = JSON.stringify({ run: "a", sentAtMs: nowMs(), signal: { type: "something-new" } });

    records.listeners.notify([{ kind: "signal", key: "x", value, revision: 8 }]);

    expect(received).toEqual([]);
  });

  test("are reported to the sender with the reason when they cannot be stored", async () => {
    const [a, b] = [open("a"), open("b")];
    records.isAway = true;

    expect(await a.signals.send(restart("shop"))).toEqual({ notified: 0, problem: expect.stringContaining("does not accept changes") });
    expect(b.received).toEqual([]);
  });
});
