import { expect, test } from "vitest";
import { listedWorker, WireAnswer } from "../../support/fake-daemon.js";
import { renderDashboard, sessionOf, unreachable } from "../../support/render-dashboard.js";
import { keys } from "../../support/terminal-window.js";
import { admin, fileEntry, listedKey, listedPlugin, loadedPlugin, successOf } from "./sample-data.js";

const denied = WireAnswer.refusal(403, "PERMISSION_DENIED", "The key has no permission for this.");
const full = {
  "/api/admin/session": admin,
  "/api/workers": [listedWorker("@team/shop", ["1.4.2", "1.4.1"]), listedWorker("todos")],
  "/api/plugins": [
    listedPlugin("guard"),
    listedPlugin("audit", { status: "failed", error: "no database" }),
    listedPlugin("late", { status: "waiting" }),
  ],
  "/api/plugins/loaded": [loadedPlugin("guard", { menus: [{ title: "Rules", icon: "shield", path: "/guard/rules" }] })],
  "/api/keys": { keys: [listedKey(3, "ci-deploy", { namespaces: ["@team"], createdAt: 900_000_000, expiresAt: 1_000_000_000 })] },
  "/api/workers/files/list": successOf({ path: "", entries: [fileEntry("workers", { isDirectory: true })] }),
  "/api/plugins/files/list": successOf({ path: "", entries: [fileEntry("plugins", { isDirectory: true })] }),
};

test.each([
  ["overview", /workers +2 \(3 versions\)/],
  ["overview", /plugins +3 \(1 failed\)/],
  ["workers", /> @team\/shop +1\.4\.2 +enabled/],
  ["plugins", /guard +1\.0\.0 +● ok +uploaded +\/guard/],
  ["plugins", /error +no database/],
  ["keys", /> ci-deploy +viewer +rtk_3 /],
  ["keys", /expires +2001-09-09 01:46 UTC \(expired\)/],
  ["files", /> workers\/ +workers/],
])("the screen %s shows the daemon's data as the text %s", async (screen, expected) => {
  const dashboard = await renderDashboard(full, { screen });
  await dashboard.waitFor(expected);
});

test("the overview lists the most severe incident first, with cause and position", async () => {
  const now = Math.floor(Date.now() / 1000);
  const lastError = { message: "no such order", at: now, file: "index.js", line: 3 };
  const instances = [
    { name: "eu-1", id: "1", state: "ok" },
    { name: "eu-2", id: "2", state: "failing" },
  ];
  const health = [
    { name: "@team/shop", version: "1.4.2", state: "degraded", since: now - 540, reason: "13 % of requests failed.", rollbackTo: "1.4.1" },
    { name: "todos", version: "1.0.0", state: "failing", since: now - 240, reason: "100 % of requests failed.", lastError, instances },
  ];
  const plugins = [
    listedPlugin("guard", { status: "failed", health: { state: "failing", since: now - 3600, reason: "It failed to load." } }),
  ];
  const dashboard = await renderDashboard(
    { ...full, "/api/workers/health": health, "/api/plugins": plugins },
    { screen: "overview", columns: 140 },
  );
  await dashboard.waitFor("4 incidents");
  await dashboard.waitFor(/> todos 1\.0\.0 +100 % of requests failed: no such order \(index\.js:3\) · On eu-2 +✕ failing +4m ago/);
  expect(dashboard.text()).toMatch(/todos.*\n.*plugin guard.*\n.*@team\/shop 1\.4\.2.*▲ degraded.*\n.*key ci-deploy/);
  dashboard.press("jj");
  await dashboard.waitFor(/R roll back to 1\.4\.1 · .*\n +13 % of requests failed\./);
  await dashboard.waitFor("R rollback");
  dashboard.press("l");
  await dashboard.waitFor("[6 Logs]");
});

test.each([
  ["workers", "5 need attention"],
  ["logs", "5 need attention"],
  ["hosts", "5 need attention"],
])("the header of the screen %s shows the text %s", async (screen, expected) => {
  const state = { version: "1.0.0", since: 0, reason: "100 % of requests failed." };
  const health = [
    { ...state, name: "todos", state: "failing" },
    { ...state, name: "@team/shop", state: "backoff" },
  ];
  const dashboard = await renderDashboard({ ...full, "/api/workers/health": health }, { screen });
  await dashboard.waitFor(`ready · ${expected} · v`);
});

test("the header omits a problem count of zero; no request is sent without permission", async () => {
  const session = sessionOf(["workers:read"], { name: "looker" });
  const dashboard = await renderDashboard({ "/api/admin/session": session, "/api/keys": denied }, { screen: "hosts", refreshMs: 1000 });
  await dashboard.waitFor("as looker");
  expect(dashboard.text()).toMatch(/ready · v/);
  const keyRequests = () => dashboard.transport.requests.filter(({ path }) => path === "/api/keys").length;
  const before = keyRequests();
  dashboard.press("r");
  await expect
    .poll(() => dashboard.transport.requests.filter(({ path }) => path.startsWith("/api/workers/health")).length)
    .toBeGreaterThan(1);
  expect(keyRequests()).toBe(before);
});

test.each([
  ["workers", "S", /NAME↑/],
  ["workers", "SS", /REQ\/S↓/],
  ["workers", "SSSS", /STATE↓/],
  ["plugins", "S", /NAME↑/],
])("the screen %s marks the sort order in its headings after the keys %s", async (screen, keysToPress, expected) => {
  const dashboard = await renderDashboard(full, { screen, columns: 140 });
  await dashboard.waitFor("STATE↓");
  dashboard.press(keysToPress);
  await dashboard.waitFor(expected);
});

test("the screen `plugins` lists failed plugins first", async () => {
  const dashboard = await renderDashboard(full, { screen: "plugins" });
  await dashboard.waitFor(/> audit .*\n +late .*\n +guard /);
});

test.each([
  ["workers", "no workers; press u to upload a folder"],
  ["plugins", "no plugins; to upload a folder:"],
  ["keys", "no keys; to create one: runtimectl keys create"],
  ["files", "no package directory is configured"],
  ["logs", "no workers; to deploy a folder:"],
])("the screen %s shows the first step for the user when its list is empty", async (screen, expected) => {
  const nothing = successOf({ path: "", entries: [] });
  const answers = { "/api/keys": { keys: [] }, "/api/workers/files/list": nothing, "/api/plugins/files/list": nothing };
  const dashboard = await renderDashboard({ "/api/admin/session": admin, ...answers }, { screen });
  await dashboard.waitFor(expected);
});

test.each([
  ["workers", "/api/workers", "list"],
  ["plugins", "/api/plugins", "list"],
  ["keys", "/api/keys", "list"],
  ["files", "/api/workers/files/list", "list"],
  ["logs", "/api/workers", "workers"],
])("the screen %s shows why the daemon rejects the request for its list", async (screen, path, what) => {
  const dashboard = await renderDashboard({ ...full, [path]: denied }, { screen });
  await dashboard.waitFor(`cannot load the ${what}: The key has no permission for this.`);
});

test.each([
  ["workers", "workers:read"],
  ["plugins", "plugins:read"],
  ["keys", "keys:read"],
  ["logs", "workers:read"],
])("the screen %s shows the missing permission %s and sends no request for its list", async (screen, permission) => {
  const session = sessionOf([], { name: "blind" });
  const dashboard = await renderDashboard({ ...full, "/api/admin/session": session }, { screen });
  await dashboard.waitFor(`This screen requires the permission ${permission}`);
  await dashboard.waitFor("q quit");
  expect(dashboard.text()).not.toMatch(/shop|guard|ci-deploy|upload|create|follow/);
});

test("the screen `files` names two permissions, one of which is required", async () => {
  const dashboard = await renderDashboard({ ...full, "/api/admin/session": sessionOf([], { name: "blind" }) }, { screen: "files" });
  await dashboard.waitFor("This screen requires the permission workers:read or plugins:read");
});

test("the overview shows why a number is missing when the daemon denies access", async () => {
  const dashboard = await renderDashboard({ ...full, "/api/workers": denied });
  await dashboard.waitFor(/workers +not available: The key has no permission for this\./);
  await dashboard.waitFor(/plugins +3/);
});

test.each(["workers", "plugins", "keys", "files"])("the screen %s shows a loading text until the daemon responds", async (screen) => {
  const dashboard = await renderDashboard(full, { screen });
  dashboard.transport.hold();
  await dashboard.waitFor("loading…");
  dashboard.transport.release();
  await dashboard.waitFor(/^> /m);
  expect(dashboard.text()).not.toContain("loading…");
});

test.each(["workers", "plugins", "keys", "files"])("the screen %s keeps its list while the daemon is unreachable", async (screen) => {
  const dashboard = await renderDashboard(full, { screen });
  await dashboard.waitFor(/^> /m);
  const [selected] = /^> .*/m.exec(dashboard.text()) ?? [];
  dashboard.transport.failure = unreachable();
  dashboard.press("r");
  await dashboard.waitFor(/unreachable for \d+ s · .* · cannot reach http:\/\/daemon\.test/);
  expect(dashboard.text()).toContain(selected);
});

test("the number keys and the tab key switch between screens", async () => {
  const dashboard = await renderDashboard(full);
  await dashboard.waitFor("[1 Overview]");
  dashboard.press("4");
  await dashboard.waitFor("[4 Keys]");
  dashboard.press(keys.tab);
  await dashboard.waitFor("[5 Files]");
  dashboard.press("\u001b[Z\u001b[Z");
  await dashboard.waitFor("[3 Plugins]");
  dashboard.press("1\u001b[Z");
  await dashboard.waitFor("[9 Instances]");
  dashboard.press("\u001b[Z");
  await dashboard.waitFor("[8 Connect]");
});

test("the dashboard escapes control characters in worker names", async () => {
  const name = "\u001b]0;owned\u0007\u001b[2J\u202eevil";
  const dashboard = await renderDashboard({ "/api/workers": [listedWorker(name)] }, { screen: "workers" });
  await dashboard.waitFor(String.raw`\x1b]0;owned\x07\x1b[2J\u{202e}evil 1.0.0`);
  expect(dashboard.screen.written()).not.toContain("\u001b]0;");
  expect(dashboard.screen.written()).not.toContain("\u202e");
});

test.each([
  ["an unexpected shape", [{ name: 7 }]],
  ["a body that is not JSON", new WireAnswer(200, "<html>a proxy</html>")],
])("the dashboard keeps the last valid list and shows an error if a response has %s", async (_what, nonsense) => {
  const dashboard = await renderDashboard(full, { screen: "workers", columns: 140 });
  await dashboard.waitFor(/> @team\/shop/);
  dashboard.transport.answers["/api/workers"] = nonsense;
  dashboard.press("r");
  await dashboard.waitFor(/not up to date: /);
  expect(dashboard.text()).toContain("> @team/shop");
  dashboard.transport.answers["/api/workers"] = [listedWorker("todos")];
  dashboard.press("r");
  await dashboard.waitFor("> todos");
  expect(dashboard.text()).not.toContain("not up to date");
});
