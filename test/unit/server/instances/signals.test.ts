import { beforeEach, describe, expect, test } from "vitest";
import { Signals, type Signal } from "../../../../src/server/instances/signals.js";
import { createLog } from "../../../../src/server/log/log.js";
import { FakeRecords } from "../../../support/fake-records.js";

const restart = (name: string): Signal => ({ type: "restart-worker", name, version: "1.0.0" });

let records: FakeRecords;

beforeEach(() => {
  records = new FakeRecords();
});

function open(run: string): { signals: Signals; received: Signal[] } {
  const received: Signal[] = [];
  const onSignal = async (signal: Signal) => void received.push(signal);
  return { signals: new Signals({ records, run, countOthers: async () => 2, onSignal, log: createLog({ level: "silent" }) }), received };
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
    records.rows.push({ kind: "signal", key: "x", value: JSON.stringify({ run: "a", signal: restart("late") }), revision: 9 });
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

  test("of a newer form are ignored", async () => {
    const { received } = open("b");
    const value = JSON.stringify({ run: "a", signal: { type: "something-new" } });

    records.listeners.notify([{ kind: "signal", key: "x", value, revision: 8 }]);

    expect(received).toEqual([]);
  });

  test("that cannot be stored are reported to the sender with the reason", async () => {
    const [a, b] = [open("a"), open("b")];
    records.isAway = true;

    expect(await a.signals.send(restart("shop"))).toEqual({ notified: 0, problem: expect.stringContaining("does not accept changes") });
    expect(b.received).toEqual([]);
  });
});
