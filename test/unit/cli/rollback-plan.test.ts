import { describe, expect, test } from "vitest";
import { findWorker, type Listing } from "../../../src/cli/commands/workers/installed-worker.js";
import { activeVersionOf, type InstalledVersion } from "../../../src/shared/worker-versions.js";
import { planRollback } from "../../../src/cli/commands/workers/rollback-plan.js";

/** A worker with these versions, newest first; versions in parentheses are disabled. */
const workerOf = (versions: string) => ({
  name: "app",
  versions: versions.split(" ").map((word): InstalledVersion => {
    const version = word.replace(/[()]/g, "");
    return { version, enabled: version === word, source: "uploaded", path: "/workers/app" };
  }),
});

const planOf = (versions: string, wanted?: string) => {
  const { from, to, inTheWay } = planRollback(workerOf(versions), wanted);
  return { from: from?.version, to: to.version, off: inTheWay.map(({ version }) => version) };
};

test.each([
  ["latest 2.0.0 1.0.0", "latest"],
  ["(latest) 2.0.0 1.0.0", "2.0.0"],
  ["2.0.0-rc.1 1.0.0", "1.0.0"],
  ["2.0.0-rc.2 2.0.0-rc.1 (1.0.0)", "2.0.0-rc.2"],
  ["2.0.0+build-7 1.0.0", "2.0.0+build-7"],
  ["(1.0.0)", undefined],
])("among the versions %s, the active version is %s", (versions, answering) => {
  expect(activeVersionOf(workerOf(versions).versions)?.version).toBe(answering);
});

test("findWorker sorts built-in and uploaded versions together, from new to old", async () => {
  const row = { name: "app", removable: true, disabledVersions: [] };
  const rows = [
    { ...row, source: "built-in", path: "/built-in", versions: ["1.10.0", "1.2.0"] },
    { ...row, source: "uploaded", path: "/uploaded", versions: ["latest", "1.9.0", "1.9.0-rc.1"], disabledVersions: ["latest"] },
  ];
  const listing = { client: { workers: { list: () => Promise.resolve(rows) } } } as unknown as Listing;

  const { versions } = await findWorker(listing, "app");

  expect(versions.map(({ version }) => version)).toEqual(["latest", "1.10.0", "1.9.0", "1.9.0-rc.1", "1.2.0"]);
  expect(activeVersionOf(versions)).toEqual({ version: "1.10.0", enabled: true, source: "built-in", path: "/built-in" });
});

describe("planRollback", () => {
  test.each([
    ["1.2.0 1.1.0 1.0.0", undefined, { from: "1.2.0", to: "1.1.0", off: ["1.2.0"] }],
    ["1.2.0 (1.1.0) 1.0.0", undefined, { from: "1.2.0", to: "1.0.0", off: ["1.2.0"] }],
    ["1.2.0 (1.1.0) (1.0.0)", undefined, { from: "1.2.0", to: "1.1.0", off: ["1.2.0"] }],
    ["1.1.0 1.1.0-rc.1 (1.0.0)", undefined, { from: "1.1.0", to: "1.1.0-rc.1", off: ["1.1.0"] }],
    ["2.0.0-rc.3 (2.0.0-rc.2) 2.0.0-rc.1", undefined, { from: "2.0.0-rc.3", to: "2.0.0-rc.1", off: ["2.0.0-rc.3"] }],
    ["(1.3.0) 1.2.0 1.1.0", undefined, { from: "1.2.0", to: "1.1.0", off: ["1.2.0"] }],
    ["1.2.0 1.1.0 1.0.0", "1.0.0", { from: "1.2.0", to: "1.0.0", off: ["1.2.0", "1.1.0"] }],
    ["1.2.0 (1.1.0) (1.0.0)", "1.0.0", { from: "1.2.0", to: "1.0.0", off: ["1.2.0"] }],
    ["1.1.0 1.1.0-rc.1 1.0.0", undefined, { from: "1.1.0", to: "1.0.0", off: ["1.1.0"] }],
    ["1.1.0 1.1.0-rc.1", undefined, { from: "1.1.0", to: "1.1.0-rc.1", off: ["1.1.0"] }],
    ["2.0.0-rc.2 2.0.0-rc.1", undefined, { from: "2.0.0-rc.2", to: "2.0.0-rc.1", off: ["2.0.0-rc.2"] }],
    ["2.0.0-rc.2 (1.0.0)", undefined, { from: "2.0.0-rc.2", to: "1.0.0", off: [] }],
    ["latest 2.0.0 1.0.0", undefined, { from: "latest", to: "2.0.0", off: ["latest"] }],
    ["latest 2.0.0 1.0.0", "1.0.0", { from: "latest", to: "1.0.0", off: ["latest", "2.0.0"] }],
    ["(2.0.0) 1.0.0", "2.0.0", { from: "1.0.0", to: "2.0.0", off: [] }],
    ["(1.1.0) (1.0.0)", "1.0.0", { from: undefined, to: "1.0.0", off: [] }],
  ] as const)("for the versions %s, returns the rollback to the requested version %s", (versions, wanted, plan) => {
    expect(planOf(versions, wanted)).toEqual(plan);
  });

  test.each([
    ["1.0.0", undefined, "NO_EARLIER_VERSION"],
    ["1.1.0", "1.1.0", "ANSWERS_ALREADY"],
    ["(1.1.0) (1.0.0)", undefined, "NO_EARLIER_VERSION"],
    ["1.1.0 1.0.0", "1.0.1", "WORKER_VERSION_NOT_FOUND"],
  ])("for the versions %s, rejects the rollback to %s with the error code %s", (versions, wanted, code) => {
    expect(() => planOf(versions, wanted)).toThrow(expect.objectContaining({ code }) as Error);
  });
});
