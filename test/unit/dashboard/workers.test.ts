import { expect, test } from "vitest";
import { rolePermissions } from "../../../src/shared/permissions.js";
import { listedWorker, usualAnswers, WireAnswer } from "../../support/fake-daemon.js";
import { created, FakeStream } from "../../support/fake-transport.js";
import { daemonUrl, renderDashboard, sessionOf, type DashboardSetup, type RenderedDashboard } from "../../support/render-dashboard.js";
import { workerMetricsOf } from "../../support/worker-metrics-of.js";
import { keys } from "../../support/terminal-window.js";
import { admin, success, successOf } from "./sample-data.js";

/** Opens the dashboard for a daemon with two versions of the worker `app`. The daemon enables, disables and deletes versions. */
async function openApp(setup: DashboardSetup = {}, answers: Readonly<Record<string, unknown>> = {}): Promise<RenderedDashboard> {
  const worker = { ...listedWorker("app", ["1.1.0", "1.0.0"]), disabledVersions: [] as string[] };
  const workers = [worker];
  const setEnabled = (version: string, enabled: boolean) => () => {
    worker.disabledVersions = worker.disabledVersions.filter((other) => other !== version);
    if (!enabled) worker.disabledVersions.push(version);
    return successOf({ name: "app", version, enabled });
  };
  const switches = ["1.0.0", "1.1.0"].flatMap((version) => [
    [`POST /api/workers/_/app/${version}/enable`, setEnabled(version, true)] as const,
    [`POST /api/workers/_/app/${version}/disable`, setEnabled(version, false)] as const,
  ]);
  const changing = {
    "/api/admin/session": admin,
    "/api/workers": () => workers,
    "/api/workers/_/app/logs": { entries: [], hasMore: false },
    ...Object.fromEntries(switches),
    "DELETE /api/workers/_/app/1.1.0": () => {
      worker.versions = ["1.0.0"];
      return success;
    },
    "DELETE /api/workers/_/app": () => {
      workers.pop();
      return success;
    },
  };
  return renderDashboard({ ...changing, ...answers }, { screen: "workers", ...setup });
}

test("the dashboard disables a version, and undo enables it", async () => {
  const dashboard = await openApp();
  await dashboard.waitFor("e on/off");
  dashboard.press("e");
  await dashboard.waitFor("done: app 1.1.0 is disabled · U undoes it");
  await dashboard.waitFor(/app +1\.1\.0 +○ disabled/);
  dashboard.press("U");
  await dashboard.waitFor("done: app 1.1.0 is enabled");
  await dashboard.waitFor(/app +1\.1\.0 +enabled/);
  expect(dashboard.transport.changes()).toEqual(["POST /api/workers/_/app/1.1.0/disable", "POST /api/workers/_/app/1.1.0/enable"]);
});

test("the dashboard keeps the list visible, and shows why the daemon rejects a change", async () => {
  const denied = WireAnswer.refusal(403, "PERMISSION_DENIED", "The key has no permission workers:install.");
  const dashboard = await openApp({}, { "POST /api/workers/_/app/1.1.0/disable": denied });
  await dashboard.waitFor("e on/off");
  dashboard.press("e");
  await dashboard.waitFor("failed: The key has no permission workers:install.");
  expect(dashboard.text()).toMatch(/> app +1\.1\.0 +enabled/);
});

test("the dashboard shows state, cause and beginning of the active version's problem", async () => {
  const since = Math.floor(Date.now() / 1000) - 240;
  const suspect = { version: "1.0.0", by: "ci" };
  const lastError = { message: "no such order", at: since, file: "index.js", line: 3 };
  const health = [{ name: "app", version: "1.0.0", state: "failing", since, reason: "100 % of requests failed.", lastError, suspect }];
  const workers = [workerMetricsOf("app", { total: 20, failed: 20, perSecond: 0.5, failedPerSecond: 0.5 })];
  const metrics = { ...(usualAnswers["/api/metrics.json"] as object), workers };
  const dashboard = await openApp(
    { columns: 100 },
    { "/api/workers": [listedWorker("app")], "/api/metrics.json": metrics, "/api/workers/health": health },
  );
  await dashboard.waitFor(/app +1\.0\.0 +✕ failing +active +0\.50 +20/);
  await dashboard.waitFor(/state +✕ failing 4m ago, active at \/app\//);
  await dashboard.waitFor(/cause +100 % of requests failed\./);
  await dashboard.waitFor(/error +no such order \(index\.js:3\)/);
  await dashboard.waitFor(/began +after 1\.0\.0 was deployed by ci/);
  await dashboard.waitFor(/errors +20 failed, 100 % now/);
});

test.each([
  [60, 15],
  [80, 24],
  [140, 45],
])("the details shorten a long error at %dx%d, and enter shows the complete error", async (columns, rows) => {
  const reason = "The last requests failed.";
  const lastError = { message: `rejected ${"by-the-upstream-server ".repeat(30)}at last`, at: 0 };
  const health = [{ name: "app", version: "1.1.0", state: "failing", since: 0, reason, lastError }];
  const entry = { id: 1, time: Date.now(), worker: "app", version: "1.1.0", level: "error", source: "app", text: "Error: kaput" };
  const logs = { entries: [entry], hasMore: false };
  const dashboard = await openApp({ columns, rows }, { "/api/workers/health": health, "/api/workers/_/app/logs": logs });
  await dashboard.waitFor(/> app +1\.1\.0/);
  if (columns < 80) dashboard.press(keys.enter);
  await dashboard.waitFor("Error: kaput");
  expect(dashboard.text()).toMatch(/error +rejected by-the-upstream-server/);
  expect(dashboard.text()).toContain("…");
  expect(dashboard.text()).not.toContain("at last");
  dashboard.press(`${keys.enter}G`);
  await dashboard.waitFor("at last");
});

test("the dashboard shows the failed requests since the start and in the last minute", async () => {
  const workers = [workerMetricsOf("app", { total: 2, failed: 2, perSecond: 0, failedPerSecond: 0 })];
  const metrics = { ...(usualAnswers["/api/metrics.json"] as object), workers };
  const dashboard = await openApp({ columns: 100 }, { "/api/workers": [listedWorker("app")], "/api/metrics.json": metrics });
  await dashboard.waitFor(/app +1\.0\.0 +enabled +active/);
  await dashboard.waitFor(/errors +2 failed, none now/);
});

test("the dashboard shows the newest error before all other log entries in the details", async () => {
  const entry = { time: Date.now(), worker: "app", version: "1.1.0", level: "error", source: "app" };
  const entries = [
    { ...entry, id: 1, text: "Error: kaput\n    at index.js:1:1" },
    ...Array.from({ length: 40 }, (_, index) => ({ ...entry, id: index + 2, level: "warn", text: `GET /app/${index} 404` })),
  ];
  const dashboard = await openApp({ columns: 80, rows: 24 }, { "/api/workers/_/app/logs": { entries, hasMore: false } });
  await dashboard.waitFor("GET /app/39 404");
  expect(dashboard.text()).toContain("Error: kaput");
});

test("the dashboard shows a long name in full in a wide list and wraps it in details", async () => {
  const name = "@very-long-team-name-for-tests/a-really-long-worker-name-that-goes-on-and-on-forever";
  const answers = { "/api/workers": [listedWorker("@team/a-name-of-thirty-five-letters"), listedWorker(name)] };
  const dashboard = await openApp({ columns: 140, rows: 45 }, answers);
  await dashboard.waitFor(/> @team\/a-name-of-thirty-five-letters +1\.0\.0/);
  dashboard.press("j");
  await dashboard.waitFor(/> @very/);
  // The name wraps to three lines.
  expect(dashboard.text()).toMatch(
    /@very-long-team-name-for-tests\/a-really-\n.* long-worker-name-that-goes-on-and-on-for\n.* ever 1\.0\.0\n/,
  );
});

test("the dashboard shows who installed a version, when and with which client", async () => {
  const installs = { "1.0.0": { at: Math.floor(Date.now() / 1000) - 3 * 3600, by: "ci", via: "cli" } };
  const dashboard = await openApp({ columns: 100 }, { "/api/workers": [{ ...listedWorker("app"), installs }] });
  await dashboard.waitFor(/source +uploaded 3h ago by ci, CLI/);
});

test("the dashboard deletes a version only after the user presses the key y", async () => {
  const dashboard = await openApp();
  await dashboard.waitFor("d delete");
  dashboard.press("d");
  await dashboard.waitFor("Delete 1 version of app, 1.1.0; 1 version will remain.");
  dashboard.press(keys.enter);
  await dashboard.waitFor("note: nothing changed");
  expect(dashboard.transport.changes()).toEqual([]);
  dashboard.press("dy");
  await dashboard.waitFor("done: app 1.1.0 deleted");
  await dashboard.waitFor(/> app +1\.0\.0/);
  expect(dashboard.transport.changes()).toEqual(["DELETE /api/workers/_/app/1.1.0"]);
});

test("the dashboard deletes a worker only after the user types its name", async () => {
  const dashboard = await openApp({ columns: 140 });
  await dashboard.waitFor("D delete all");
  dashboard.press("D");
  await dashboard.waitFor("Delete app, all versions (2); /app/ will respond with 404.");
  dashboard.press(`other${keys.enter}`);
  await dashboard.waitFor("The name does not match. Nothing changed.");
  dashboard.press(keys.esc);
  await dashboard.waitFor("note: nothing changed");
  expect(dashboard.transport.changes()).toEqual([]);
  dashboard.press(`Dapp${keys.enter}`);
  await dashboard.waitFor("done: app and its uploaded versions deleted");
  await dashboard.waitFor("no workers");
  expect(dashboard.transport.changes()).toEqual(["DELETE /api/workers/_/app"]);
});

test("the dashboard requires the typed name of a production profile for a deletion", async () => {
  const config = `current: prod\nprofiles:\n  prod:\n    url: ${daemonUrl}\n    production: true\n`;
  const dashboard = await openApp({ config });
  await dashboard.waitFor("runtimectl prod PRODUCTION");
  await dashboard.waitFor("d delete");
  dashboard.press("d");
  await dashboard.waitFor("Type the profile name (prod) to confirm");
  dashboard.press(`app${keys.enter}`);
  await dashboard.waitFor("The name does not match. Nothing changed.");
  expect(dashboard.transport.changes()).toEqual([]);
  dashboard.press(`\u0015prod${keys.enter}`);
  await dashboard.waitFor("done: app 1.1.0 deleted");
});

test("the dashboard names the missing permission for each action, and sends no request", async () => {
  const viewer = sessionOf(rolePermissions.viewer);
  const dashboard = await openApp({ columns: 170 }, { "/api/admin/session": viewer });
  await dashboard.waitFor("does not have workers:install, workers:restart, workers:remove");
  expect(dashboard.text()).not.toMatch(/e on\/off|u upload|d delete/);
  for (const [key, permission] of [
    ["e", "workers:install"],
    ["t", "workers:restart"],
    ["d", "workers:remove"],
  ] as const) {
    dashboard.press(key);
    await dashboard.waitFor(`note: your key does not have the required permission ${permission}`);
  }
  expect(dashboard.transport.changes()).toEqual([]);
});

test("the dashboard hides an action when the API key loses the required permission", async () => {
  const dashboard = await openApp();
  await dashboard.waitFor("d delete");
  dashboard.transport.answers["/api/admin/session"] = sessionOf(["workers:read"]);
  dashboard.press("r");
  await dashboard.waitFor("does not have workers:install");
  expect(dashboard.text()).not.toMatch(/e on\/off|u upload|d delete/);
});

test("the dashboard offers no action that changes workers in read-only mode", async () => {
  const dashboard = await openApp({ isReadOnly: true });
  await dashboard.waitFor("read-only");
  await dashboard.waitFor(/> app +1\.1\.0 +enabled/);
  dashboard.press("eRtdDu?");
  await dashboard.waitFor("Available keys");
  expect(dashboard.text()).not.toMatch(/on\/off|rollback|restart|delete|upload/);
  expect(dashboard.transport.changes()).toEqual([]);
});

test("the dashboard shows and copies a worker's URL, and lists the equivalent commands", async () => {
  const dashboard = await openApp({ columns: 140, rows: 45 });
  await dashboard.waitFor("e on/off");
  dashboard.press("o");
  await dashboard.waitFor(`note: ${daemonUrl}/app/`);
  dashboard.press("y");
  await dashboard.waitFor("copied, if the terminal allows");
  expect(dashboard.screen.written()).toContain(`\u001b]52;c;${Buffer.from(`${daemonUrl}/app/`).toString("base64")}\u0007`);
  dashboard.press("x");
  await dashboard.waitFor("Equivalent commands");
  for (const line of ["show app", "disable app@1.1.0", "rollback app", "restart app@1.1.0", "delete app@1.1.0", "upload ./dir"])
    expect(dashboard.text()).toContain(`runtimectl workers ${line}`);
});

test("the dashboard shows an upload's preview, and uploads only after enter is pressed", async () => {
  const files = { "shop/manifest.yaml": 'name: "@team/shop"\nversion: 2.0.0\n', "shop/index.html": "shop" };
  const installed = { name: "@team/shop", version: "2.0.0", installedAt: "/srv/workers/@team/shop/2.0.0" };
  const dashboard = await openApp({ rows: 30, columns: 100, files }, { "POST /api/workers/upload": created({ worker: installed }) });
  await dashboard.waitFor("u upload");
  dashboard.press(`usho${keys.tab}${keys.enter}`);
  await dashboard.waitFor("a new worker at /@team/shop/");
  await dashboard.waitFor("runtimectl workers upload ./shop/");
  dashboard.press("n");
  await dashboard.waitFor("note: cancelled; nothing was uploaded");
  expect(dashboard.transport.changes()).toEqual([]);
  dashboard.press(`ushop${keys.enter}`);
  await dashboard.waitFor("enter uploads");
  dashboard.press(keys.enter);
  await dashboard.waitFor(`done: uploaded @team/shop 2.0.0: ${daemonUrl}/@team/shop/`);
  expect(dashboard.transport.changes()).toEqual(["POST /api/workers/upload?check=true"]);
});

test.each([
  ["typed", "an absolute path", ""],
  ["pasted", "an absolute path", ""],
  ["typed", "a path below ~", "~"],
])("the dashboard replaces the initial ./ in the upload prompt when the user %s %s", async (how, _what, home) => {
  const files = { "shop/manifest.yaml": 'name: "@team/shop"\nversion: 2.0.0\n', "shop/index.html": "shop" };
  const dashboard = await openApp({ rows: 30, columns: 140, files });
  await dashboard.waitFor("u upload");
  const folder = `${home || dashboard.directory}/shop`;
  dashboard.press("u");
  await dashboard.waitFor("upload: ./");
  if (how === "typed") dashboard.press(folder);
  else dashboard.paste(folder);
  await dashboard.waitFor(`upload: ${folder}`);
  dashboard.press(keys.enter);
  await dashboard.waitFor("a new worker at /@team/shop/");
});

test("the dashboard completes a path below ~ for an upload", async () => {
  const dashboard = await openApp({ files: { "shop/index.html": "shop" } });
  await dashboard.waitFor("u upload");
  dashboard.press(`u~/sh${keys.tab}`);
  await dashboard.waitFor("upload: ~/shop/");
});

test("the dashboard shows why a folder cannot be uploaded, and keeps the typed path", async () => {
  const dashboard = await openApp({ files: { "shady/readme.txt": "no manifest" } });
  await dashboard.waitFor("u upload");
  dashboard.press(`ushady${keys.enter}`);
  await dashboard.waitFor("has nothing to deploy");
  expect(dashboard.text()).toContain("folder or archive to upload: ./shady");
  expect(dashboard.transport.changes()).toEqual([]);
});

test("the dashboard shows another client's change immediately, before the next request", async () => {
  const events = new FakeStream();
  const dashboard = await openApp({ refreshMs: 600_000 }, { "/api/events": events });
  await dashboard.waitFor(/app +1\.1\.0 +enabled/);
  await expect.poll(() => events.readerCount).toBe(1);
  dashboard.transport.answers["/api/workers"] = [listedWorker("made-elsewhere")];
  events.send({ id: 1, type: "worker.installed", at: 0 } as { id: number });
  await dashboard.waitFor("> made-elsewhere");
});
