import { expect, test } from "vitest";
import { mergeHealth, type DaemonHealth } from "../../../../src/server/health/merge-health.js";
import type { WorkerHealth } from "../../../../src/shared/contract/worker-health.js";

const error = (message: string, at: number) => ({ message, at });

function daemon(name: string, ...result: readonly WorkerHealth[]): DaemonHealth {
  return { instance: { name, id: `id-${name}` }, response: { result } };
}

function shop(state: WorkerHealth["state"], changes: Partial<WorkerHealth> = {}): WorkerHealth {
  return { name: "shop", version: "1.0.0", state, since: 100, ...changes };
}

test("merged health has the most severe state with its reason, and lists all daemons", () => {
  const failing = { reason: "It cannot start.", lastError: error("broken", 7), rollbackTo: "0.9.0", version: "1.1.0" };

  expect(
    mergeHealth([daemon("a", shop("ok")), daemon("b", shop("degraded", { reason: "Slow." })), daemon("c", shop("failing", failing))]),
  ).toEqual([
    {
      ...shop("failing", failing),
      instance: "c",
      instances: [
        { name: "a", id: "id-a", version: "1.0.0", state: "ok", since: 100 },
        { name: "b", id: "id-b", version: "1.0.0", state: "degraded", since: 100, reason: "Slow." },
        {
          name: "c",
          id: "id-c",
          version: "1.1.0",
          state: "failing",
          since: 100,
          reason: "It cannot start.",
          lastError: error("broken", 7),
        },
      ],
    },
  ]);
});

test("merged health is `ok` if the daemons report `ok`, `idle` and `disabled`", () => {
  const [health] = mergeHealth([daemon("a", shop("disabled")), daemon("b", shop("idle")), daemon("c", shop("ok"))]);
  expect(health).toMatchObject({ state: "ok", instance: "c" });
});

test("merged health has the earlier of two equal states, in any order of daemons", () => {
  const one = daemon("a", shop("failing", { since: 200, reason: "late" }));
  const other = daemon("b", shop("failing", { since: 150, reason: "early" }));
  expect(mergeHealth([one, other])).toMatchObject([{ since: 150, reason: "early", instance: "b" }]);
  expect(mergeHealth([other, one])).toMatchObject([{ since: 150, reason: "early", instance: "b" }]);

  const [same, equal] = [daemon("a", shop("ok")), daemon("b", shop("ok"))];
  expect([mergeHealth([same, equal])[0]?.instance, mergeHealth([equal, same])[0]?.instance]).toEqual(["a", "a"]);
});

test("merged health has the last error of the selected daemon, else the newest error", () => {
  const [older, newer] = [
    daemon("b", shop("idle", { lastError: error("older", 1) })),
    daemon("c", shop("idle", { lastError: error("newer", 2) })),
  ];
  expect(mergeHealth([daemon("a", shop("ok")), older, newer])[0]?.lastError).toEqual(error("newer", 2));
  expect(mergeHealth([daemon("a", shop("ok", { lastError: error("own", 0) })), newer])[0]?.lastError).toEqual(error("own", 0));
});

test("merged health lists the daemons that have the worker or gave no response", () => {
  const away: DaemonHealth = { instance: { name: "c", id: "id-c" }, response: { problem: "It did not respond within 2 s." } };

  const merged = mergeHealth([daemon("a", shop("ok"), { ...shop("ok"), name: "blog" }), daemon("b", shop("idle")), away]);

  const named = merged.map(({ name, instances = [] }) => [name, instances.map((one) => [one.name, one.state ?? one.problem])]);
  expect(named).toEqual([
    [
      "blog",
      [
        ["a", "ok"],
        ["c", "It did not respond within 2 s."],
      ],
    ],
    [
      "shop",
      [
        ["a", "ok"],
        ["b", "idle"],
        ["c", "It did not respond within 2 s."],
      ],
    ],
  ]);
});

test("merged health treats an unknown state of a newer daemon as the least severe", () => {
  const newer = daemon("a", shop("resting" as WorkerHealth["state"]));
  expect(mergeHealth([newer, daemon("b", shop("disabled"))])).toMatchObject([{ state: "disabled", instance: "b" }]);
});

test("mergeHealth merges 50,000 entries of one worker within 2 s of CPU time", () => {
  const entries = Array.from({ length: 50_000 }, () => shop("ok"));
  const before = process.cpuUsage();
  expect(mergeHealth([daemon("a", shop("ok")), daemon("b", ...entries)])).toHaveLength(1);
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});
