import { afterAll, beforeAll, expect, test } from "vitest";
import { listedWorker, principal, WireAnswer } from "../../support/fake-daemon.js";
import { keys, type TerminalWindow } from "../../support/terminal-window.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "../cli/shell-session.js";
import { openOnFakeDaemon, openTui, type Asked } from "./dashboard-session.js";

let shell: ShellSession;

beforeAll(async () => {
  shell = await ShellSession.open();
});

afterAll(() => shell?.close());

const lookAt = (...asked: Asked) => openOnFakeDaemon(shell, ...asked);

const sessionOf = (permissions: readonly string[]) => ({ authenticated: true, principal: { ...principal, name: "blind", permissions } });
const refused = WireAnswer.refusal(403, "PERMISSION_DENIED", "The key has no permission workers:read.");

test.each(["workers", "logs"])("the screen %s shows the missing permission and offers no action", async (screen) => {
  const answers = { "/api/admin/session": sessionOf(["plugins:read"]), "/api/workers": refused, "/api/metrics.json": refused };
  const { window } = await lookAt(answers, `--screen ${screen}`);
  await window.waitFor("This screen requires the permission workers:read");
  expect(window.text()).not.toMatch(/on\/off|upload|delete|follow/);
  window.press("1");
  await window.waitFor(/workers +not available: The key has no permission workers:read/);
  await window.waitFor(/plugins +0/);
});

test("removes actions and lists when the API key in use loses a permission", async () => {
  const answers: Record<string, unknown> = {
    "/api/admin/session": sessionOf(["workers:read", "workers:install", "workers:remove"]),
    "/api/workers": [listedWorker("shop")],
  };
  const { daemon, window } = await lookAt(answers, "--screen workers", { columns: 170 });
  await window.waitFor("d delete");
  answers["/api/admin/session"] = sessionOf(["workers:read"]);
  window.press("r");
  await window.waitFor("does not have workers:install, workers:restart, workers:remove");
  expect(window.text()).not.toMatch(/e on\/off|u upload|d delete/);
  answers["/api/admin/session"] = sessionOf([]);
  answers["/api/workers"] = refused;
  window.press("r");
  await window.waitFor("This screen requires the permission workers:read");
  expect(window.text()).not.toContain("shop");
  expect(daemon.requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
});

test("shows why the daemon rejects an action, and keeps the list visible", async () => {
  const answers = {
    "/api/admin/session": sessionOf(["workers:read", "workers:install"]),
    "/api/workers": [listedWorker("shop")],
    "/api/workers/_/shop/1.0.0/disable": refused,
    "/api/workers/shop/1.0.0/disable": refused,
  };
  const { window } = await lookAt(answers, "--screen workers");
  await window.waitFor("e on/off");
  window.press("e");
  await window.waitFor("y/N");
  window.press("y");
  await window.waitFor("failed:");
  await window.waitFor(/> shop +1\.0\.0 +enabled/);
});

test.each([
  ["an unexpected shape", [{ name: 7 }]],
  ["a body that is not JSON", new WireAnswer(200, "<html>a proxy</html>")],
  ["a truncated body", new WireAnswer(200, '[{"name": "sho')],
])("keeps the last valid list, and shows an error for a response with %s", async (_name, nonsense) => {
  const answers: Record<string, unknown> = { "/api/workers": [listedWorker("shop")] };
  const { window } = await lookAt(answers, "--screen workers", { columns: 140 });
  await window.waitFor(/> shop +1\.0\.0 +enabled/);
  answers["/api/workers"] = nonsense;
  window.press("r");
  await window.waitFor(/1 version {2}not up to date: /);
  expect(window.text()).toMatch(/> shop +1\.0\.0 +enabled/);
  answers["/api/workers"] = [listedWorker("shop"), listedWorker("todos")];
  window.press("r");
  await window.waitFor("todos");
  expect(window.text()).not.toContain("not up to date");
});

test("shows that plugins are loading until the daemon responds", async () => {
  const plugin = {
    name: "guard",
    version: "1.2.0",
    enabled: true,
    status: "loaded",
    source: "uploaded",
    removable: true,
    path: "/srv/guard",
    health: { state: "ok", since: 1 },
  };
  const { daemon, window } = await lookAt({ "/api/plugins": [plugin], "/api/plugins/loaded": [] }, "--screen plugins");
  daemon.hold();
  await window.waitFor(/Plugins\].*\n *loading…/);
  await pressed(window, `jjde/nothing${keys.enter}`);
  daemon.letGo();
  await window.waitFor(/> guard +1\.2\.0 +● ok/);
  expect(daemon.requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
});

test("uses the refresh interval in --refresh, otherwise the interval in ui.refresh", async () => {
  await writeTree(shell.home, { "seldom/config.yaml": "ui: { refresh: 1h }\n" });
  const env = { RUNTIMECTL_CONFIG_DIR: `${shell.home}/seldom` };
  const [seldom, often] = await Promise.all([
    lookAt({}, "--screen workers", { env }),
    lookAt({}, "--screen workers --refresh 1s", { env }),
  ]);
  await Promise.all([seldom, often].map(({ window }) => window.waitFor("no workers")));
  await Promise.all([seldom, often].map(({ window }) => window.waitFor("ready")));
  const asked = ({ daemon }: typeof seldom) => daemon.requests.filter((request) => request === "GET /api/workers").length;
  await expect.poll(() => asked(often)).toBeGreaterThan(2);
  expect(asked(seldom)).toBe(1);
  seldom.window.press("r");
  await expect.poll(() => asked(seldom)).toBe(2);
});

test("rejects an invalid ui.refresh and exits before drawing the screen", async () => {
  await writeTree(shell.home, { "wrong/config.yaml": "ui: { refresh: often }\n" });
  const window = await openTui(shell, "", { env: { RUNTIMECTL_CONFIG_DIR: `${shell.home}/wrong` } });
  expect(await window.ended).toBe(2);
  expect(window.text()).toContain("ui.refresh in config.yaml: often is not a duration of at least 1s");
  expect(window.written()).not.toContain("\u001b[?1049h");
});

test("inserts pasted text only in text inputs, and never handles it as key presses", async () => {
  const answers = {
    "/api/admin/session": sessionOf(["workers:read", "workers:remove"]),
    "/api/workers": [listedWorker("shop", ["1.0.0", "1.1.0"])],
  };
  const { daemon, window } = await lookAt(answers, "--screen workers");
  await window.waitFor("d delete");
  window.paste("dyq\r\n:");
  window.press("/");
  await window.waitFor("filter:");
  window.paste("sh\top\n1.1\r\n");
  await window.waitFor("filter: sh op 1.1");
  window.press(`${keys.esc}d`);
  await window.waitFor("y/N");
  window.paste("y");
  await window.waitFor("nothing changed");
  expect(daemon.requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
  window.press("q");
  expect(await window.ended).toBe(0);
  expect(window.written().lastIndexOf("\u001b[?2004l")).toBeGreaterThan(window.written().lastIndexOf("\u001b[?2004h"));
});

test.each([
  [20, 5],
  [1, 1],
])("accepts only ctrl-c until the user enlarges the terminal of %dx%d", async (columns, rows) => {
  const answers = { "/api/admin/session": sessionOf(["workers:read", "workers:remove"]), "/api/workers": [listedWorker("shop")] };
  const { daemon, window } = await lookAt(answers, "--screen workers", { columns, rows });
  const asksForRoom = columns === 1 ? /^t$/ : /the\s+terminal\s+is\s+too\s+small:\s+20x5,\s+required\s+60x15/;
  await window.waitFor(asksForRoom);
  await pressed(window, "dshop\rq");
  await window.resize(80, 24);
  await window.waitFor(/> shop +1\.0\.0 +enabled/);
  expect(daemon.requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
  await window.resize(columns, rows);
  await window.waitFor(asksForRoom);
  window.press(keys.ctrlC);
  expect(await window.ended).toBe(0);
});

test("ignores key presses while the terminal is too small for the open dialog", async () => {
  const answers = {
    "/api/admin/session": sessionOf(["workers:read", "workers:remove"]),
    "/api/workers": [listedWorker("shop", ["1.0.0", "1.1.0"])],
  };
  const { daemon, window } = await lookAt(answers, "--screen workers");
  await window.waitFor("d delete");
  window.press("d");
  await window.waitFor("y/N");
  await window.resize(20, 5);
  await window.waitFor(/too\s+small/);
  await pressed(window, "y");
  await window.resize(80, 24);
  await window.waitFor("y/N");
  window.press("n");
  await window.waitFor("nothing changed");
  expect(daemon.requests.filter((request) => !request.startsWith("GET "))).toEqual([]);
});

/**
 * Presses keys without visible effect and waits until they were read: ctrl-z outside of a job-control shell briefly
 * leaves the alternate screen.
 */
async function pressed(window: TerminalWindow, text: string): Promise<void> {
  const left = () => window.written().split("\u001b[?1049l").length;
  const before = left();
  window.press(text + keys.ctrlZ);
  await window.waitFor(() => left() > before && window.isAlternateScreen);
}

test("draws one complete screen after many changes of the terminal size", async () => {
  const workers = Array.from({ length: 300 }, (_, index) => listedWorker(`worker-${String(index).padStart(3, "0")}`));
  const { window } = await lookAt({ "/api/workers": workers }, "--screen workers", { columns: 140, rows: 45 });
  await window.waitFor("> worker-000");
  for (let step = 0; step < 12; step += 1) {
    window.press("j");
    await window.resize(60 + ((step * 37) % 100), 15 + ((step * 13) % 30));
  }
  await window.resize(80, 24);
  await window.waitFor("> worker-012");
  const countOf = (pattern: RegExp) => (window.text().match(pattern) ?? []).length;
  await window.waitFor(() => window.text().split("\n").length === 23 && countOf(/NAME/g) === 1 && countOf(/> worker/g) === 1);
  expect(window.written()).not.toContain("\u001b[3J");
});
