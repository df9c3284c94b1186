import { describe, expect, test } from "vitest";
import { rolePermissions } from "../../../src/shared/permissions.js";
import { FakeStream } from "../../support/fake-transport.js";
import { renderDashboard, sessionOf, type DashboardSetup, type RenderedDashboard } from "../../support/render-dashboard.js";
import { keys } from "../../support/terminal-window.js";
import { admin, listedInstance, successOf } from "./sample-data.js";

const unreachable = {
  state: "unreachable",
  lagSeconds: null,
  isolates: null,
  version: "1.2.2",
  problem: "It did not respond within 2 s.",
};

/** Opens the instances screen with three daemons: the connected daemon, a ready daemon and an unreachable daemon. */
async function openInstances(setup: DashboardSetup = {}, answers: Readonly<Record<string, unknown>> = {}): Promise<RenderedDashboard> {
  const eu2 = listedInstance("eu-2");
  const listed = [listedInstance("eu-1", { isSelf: true }), eu2, listedInstance("eu-3", unreachable)];
  const setState = (state: string) => () => {
    Object.assign(eu2, { state });
    return successOf({ name: "eu-2", id: "id-eu-2", draining: state === "draining" });
  };
  const usual = {
    "/api/admin/session": admin,
    "/api/instances": () => listed,
    "POST /api/instances/id-eu-2/drain": setState("draining"),
    "POST /api/instances/id-eu-2/undrain": setState("ready"),
  };
  const dashboard = await renderDashboard({ ...usual, ...answers }, { screen: "instances", columns: 140, ...setup });
  await dashboard.waitFor("> eu-1 *");
  return dashboard;
}

test("the dashboard shows state, version, lag, isolates and problem of each instance", async () => {
  const dashboard = await openInstances();
  expect(dashboard.text()).toContain("3 instances");
  expect(dashboard.text()).toContain("2 versions");
  expect(dashboard.text()).toMatch(/eu-2 +● ready +1\.2\.3 +0\.2 s +2 /);
  expect(dashboard.text()).toMatch(/eu-3 +✕ unreachable +1\.2\.2 +- +- /);
  dashboard.press("jj");
  await dashboard.waitFor(/problem +It did not respond within 2 s\./);
});

test("the dashboard drains an instance after y is pressed, and ends the drain after U", async () => {
  const dashboard = await openInstances();
  dashboard.press("j");
  await dashboard.waitFor("> eu-2");
  await dashboard.waitFor("z drain on/off");
  dashboard.press("z");
  await dashboard.waitFor("Drain eu-2: it reports that it is not ready and takes no cron jobs, until its next start.");
  dashboard.press("n");
  await dashboard.waitFor("note: nothing changed");
  expect(dashboard.transport.changes()).toEqual([]);
  dashboard.press("z");
  await dashboard.waitFor("y/N");
  dashboard.press("y");
  await dashboard.waitFor("done: eu-2 reports that it is not ready, and still serves");
  await dashboard.waitFor(/eu-2 +◌ draining/);
  dashboard.press("U");
  await dashboard.waitFor("done: the drain of eu-2 has ended");
  await dashboard.waitFor(/eu-2 +● ready/);
});

test("the dashboard ends a drain without confirmation, and shows the command after x", async () => {
  const listed = [listedInstance("eu-1", { isSelf: true }), listedInstance("eu-2", { state: "draining" })];
  const dashboard = await openInstances({}, { "/api/instances": listed });
  dashboard.press("j");
  await dashboard.waitFor("> eu-2");
  dashboard.press("x");
  await dashboard.waitFor("runtimectl instances drain eu-2 --undo");
  dashboard.press(`${keys.esc}z`);
  await dashboard.waitFor("done: the drain of eu-2 has ended");
});

test("the dashboard shows a command with the ID if several instances have one name", async () => {
  const listed = [listedInstance("eu-1", { isSelf: true }), listedInstance("eu-2"), listedInstance("eu-2", { id: "id-other" })];
  const dashboard = await openInstances({}, { "/api/instances": listed });
  dashboard.press("j");
  await dashboard.waitFor("> eu-2");
  dashboard.press("x");
  await dashboard.waitFor(/runtimectl instances drain id-(eu-2|other)/);
});

test("the dashboard requires the typed name to drain the last ready instance", async () => {
  const only = [listedInstance("eu-1", { isSelf: true })];
  const dashboard = await openInstances({}, { "/api/instances": only });
  await dashboard.waitFor("none: instances share their keys");
  dashboard.press("z");
  await dashboard.waitFor("no other instance is ready");
  await dashboard.waitFor("Type eu-1 to confirm");
  dashboard.press(keys.esc);
  await dashboard.waitFor("note: nothing changed");
  expect(dashboard.transport.changes()).toEqual([]);
});

test.each([
  ["gone", admin, /eu-2 is gone/],
  ["ready", sessionOf(["workers:read"]), /workers:restart/],
  ["ready", sessionOf(rolePermissions.admin, { namespaces: ["@team"] }), /your key is restricted to @team, and a drain concerns/],
])("the dashboard does not drain an instance (state: %s, session: %j)", async (state, session, reason) => {
  const listed = [listedInstance("eu-1", { isSelf: true }), listedInstance("eu-2", { state })];
  const dashboard = await openInstances({}, { "/api/admin/session": session, "/api/instances": listed });
  dashboard.press("j");
  await dashboard.waitFor("> eu-2");
  expect(dashboard.text()).not.toContain("z drain");
  dashboard.press("z");
  await dashboard.waitFor(reason);
  expect(dashboard.transport.changes()).toEqual([]);
});

describe("the overview", () => {
  test("shows unreachable instances as an incident, and opens their screen after enter", async () => {
    const dashboard = await openInstances();
    dashboard.press("1");
    await dashboard.waitFor(/> 1 of 3 instances is unreachable +eu-3: It did not respond within 2 s\./);
    await dashboard.waitFor("· 1 needs attention ·");
    await dashboard.waitFor(/instances +2 of 3 ready/);
    dashboard.press(keys.enter);
    await dashboard.waitFor("[9 Instances]");
  });
});

test("the overview shows the instance of each recent event", async () => {
  const crashed = { type: "worker.crashed", at: 0, subject: { name: "shop", version: "1.0.0" } };
  const events = new FakeStream([
    { ...crashed, id: 1, instance: "eu-1" },
    { ...crashed, id: 1, instance: "eu-2" },
  ] as never);
  const dashboard = await openInstances({ rows: 45 }, { "/api/events": events });
  dashboard.press("1");
  await dashboard.waitFor(/\d\d {2}eu-2 {2}worker\.crashed {2}shop@1\.0\.0/);
  await dashboard.waitFor(/\d\d {2}eu-1 {2}worker\.crashed {2}shop@1\.0\.0/);
});

test("the palette completes the name of an instance", async () => {
  const dashboard = await openInstances();
  dashboard.press(":instances drain eu");
  await dashboard.waitFor("tab: eu-1 · eu-2 · eu-3");
});

test.each([
  [80, "instances", /6 Logs +\[9 Instances\]/],
  [80, "workers", /7 Hosts +8 Connect\s*\n/],
  [100, "workers", /8 Connect +9 Instances/],
])("in %d columns, the screen %s shows only the tabs that fit", async (columns, screen, expected) => {
  const dashboard = await renderDashboard({ "/api/admin/session": admin, "/api/instances": [] }, { screen, columns });
  await dashboard.waitFor(expected);
});
