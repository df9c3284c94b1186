import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keys } from "../../support/terminal-window.js";
import { writeTree } from "../../support/write-tree.js";
import { DashboardSession } from "./dashboard-session.js";
import { steadyText } from "./steady-text.js";

let session: DashboardSession;

/** Message of the error that a plugin throws when the daemon loads the plugin. */
const hostileReason = "\u001b[2J\u001b]0;owned\u0007no database";

beforeAll(async () => {
  session = await DashboardSession.open();
  await writeTree(path.join(session.daemon.directory, "plugins"), {
    "guard/manifest.yaml": [
      'name: "@team/guard"',
      "version: 1.2.0",
      "base: /guard",
      "menus:",
      "  - { title: Rules, icon: shield, path: /guard/rules }",
      "",
    ].join("\n"),
    "guard/plugin.js": "export default { routes: { fetch: () => new Response('guard') } };\n",
    "audit/manifest.yaml": 'name: "@team/audit"\nversion: 0.3.0\ndependencies: ["@team/guard"]\n',
    "audit/plugin.js": "export default { onRequest: () => undefined };\n",
    "broken/manifest.yaml": "name: broken\nversion: 2.0.0\n",
    "broken/plugin.js": `export default { onInit() { throw new Error(${JSON.stringify(hostileReason)}); } };\n`,
  });
  await writeTree(session.shell.home, {
    "extra/manifest.yaml": "name: extra\nversion: 1.0.0\nbase: /extra\n",
    "extra/plugin.js": "export default { routes: { fetch: () => new Response('extra') } };\n",
  });
  const reload = await session.shell.run("plugins reload");
  if (reload.status !== 1) throw new Error(`${reload.status}: ${reload.stderr}`);
});

afterAll(() => session?.close());

const answer = async (url: string) => (await fetch(session.daemon.url + url)).text();

test.each([
  [60, 15],
  [80, 24],
  [140, 45],
])("lists the plugins with details in a terminal of %dx%d", async (columns, rows) => {
  const window = await session.tui("--screen plugins", { columns, rows });
  await window.waitFor("1 needs attention");
  await window.waitFor(/@team\/guard +1\.2\.0 +● ok/);
  window.press(`/guard${keys.enter}`);
  await window.waitFor("1 of 4 plugins  filter: guard");
  if (columns < 80) window.press(keys.enter);
  await window.waitFor("Rules → /guard/rules");
  await window.waitFor("@team/audit loaded");
  await window.waitFor("ready");
  await window.waitFor("q quit");
  await expect(steadyText(await window.settledText())).toMatchFileSnapshot(`screens/plugins-${columns}x${rows}.txt`);
});

test("shows why a plugin failed to load, with control codes escaped", async () => {
  const window = await session.tui("--screen plugins");
  await window.waitFor(/broken +2\.0\.0 +✕ failing/);
  window.press(`/broken${keys.enter}`);
  await window.waitFor("no database");
  expect(window.text()).toContain("\\x1b[2J");
  expect(window.written()).not.toContain("\u001b]0;owned");
  window.press(`${keys.esc}/nothing-of-this-name${keys.enter}`);
  await window.waitFor("no matches");
});

test("disables a plugin, and undo enables it", async () => {
  const window = await session.tui("--screen plugins");
  await window.waitFor(/@team\/guard +1\.2\.0 +● ok/);
  window.press(`/guard${keys.enter}`);
  await window.waitFor(/^─ 1 of /m);
  window.press("e");
  await window.waitFor("done: @team/guard is disabled");
  await window.waitFor(/@team\/guard +1\.2\.0 +○ disabled/);
  expect(await answer("/guard/")).not.toBe("guard");
  window.press("U");
  await window.waitFor("done: @team/guard is enabled");
  expect(await answer("/guard/")).toBe("guard");
});

test("shows a warning with the reason when an enabled plugin cannot be loaded", async () => {
  const window = await session.tui("--screen plugins");
  await window.waitFor(/broken +2\.0\.0/);
  window.press(`/broken${keys.enter}`);
  await window.waitFor(/^─ 1 of /m);
  window.press("e");
  await window.waitFor(/broken +2\.0\.0 +○ disabled/);
  window.press("e");
  await window.waitFor("warning: broken is enabled, but failed to load");
});

test("shows each plugin's state before and after a reload", async () => {
  const window = await session.tui("--screen plugins", { columns: 100, rows: 30 });
  await window.waitFor(/@team\/guard +1\.2\.0 +● ok/);
  const folder = path.join(session.daemon.directory, "plugins/late");
  await writeTree(folder, { "manifest.yaml": "name: late\nversion: 0.1.0\n", "plugin.js": "export default {};\n" });
  window.press("L");
  await window.waitFor(/late +(?:0\.1\.0 waiting|not there) +0\.1\.0 loaded/);
  expect(window.text()).toMatch(/broken +2\.0\.0 failed +2\.0\.0 failed/);
  expect(window.text()).toMatch(/@team\/guard +1\.2\.0 loaded +1\.2\.0 loaded/);
  window.press(keys.esc);
  await window.waitFor(/warning: \d of \d plugins loaded/);
  await rm(folder, { recursive: true });
});

test("deletes a plugin only after the user types its name", async () => {
  const folder = path.join(session.daemon.directory, "plugins/gone");
  await writeTree(folder, {
    "manifest.yaml": "name: gone\nversion: 0.1.0\nbase: /gone\n",
    "plugin.js": "export default { routes: { fetch: () => new Response('gone') } };\n",
  });
  await session.shell.run("plugins reload");
  const window = await session.tui("--screen plugins");
  await window.waitFor(/gone +0\.1\.0 +● ok/);
  window.press(`/gone${keys.enter}`);
  await window.waitFor(/^─ 1 of /m);
  window.press("d");
  await window.waitFor("Delete the plugin gone 0.1.0 permanently");
  window.press(`other${keys.enter}`);
  await window.waitFor("The name does not match. Nothing changed.");
  window.press(keys.esc);
  await window.waitFor("note: nothing changed");
  expect(await answer("/gone/")).toBe("gone");
  window.press("d");
  await window.waitFor("Type gone to confirm");
  window.press(`gone${keys.enter}`);
  await window.waitFor("done: gone deleted");
  expect(await answer("/gone/")).not.toBe("gone");
});

test("does not delete a built-in plugin, and shows the reason", async () => {
  const window = await session.tui("--screen plugins");
  await window.waitFor("plugin-gateway");
  window.press(`/gateway${keys.enter}`);
  await window.waitFor(/^─ 1 of /m);
  window.press("d");
  await window.waitFor("is built in: it can be disabled, but not deleted");
  expect((await session.shell.run("plugins list")).stdout).toContain("plugin-gateway");
});

test("uploads a plugin folder after the user completes its path with tab", async () => {
  const window = await session.tui("--screen plugins");
  await window.waitFor("plugin-gateway");
  window.press("u");
  await window.waitFor("runtimectl plugins upload ./");
  await window.waitFor("./extra/");
  window.press(`e${keys.tab}`);
  await window.waitFor("plugins upload ./extra/");
  window.press(keys.enter);
  await window.waitFor("extra 1.0.0 loaded");
  expect(await answer("/extra/")).toBe("extra");
});

test("names the missing permission when the API key is not allowed to read plugins", async () => {
  const created = await session.shell.run("keys create --name blind --permission workers:read --out blind.key");
  expect(created.status, created.stderr).toBe(0);
  const window = await session.tui(`--screen plugins --url ${session.daemon.url} --key-file blind.key`, { columns: 100, rows: 24 });
  await window.waitFor("requires the permission plugins:read");
  expect(window.text()).not.toMatch(/reload all|upload/);
  await writeFile(path.join(session.shell.home, "blind.key"), "");
});

test("offers no action that changes plugins in read-only mode", async () => {
  const window = await session.tui("--screen plugins --readonly");
  await window.waitFor(/@team\/guard +1\.2\.0 +● ok/);
  window.press(`/guard${keys.enter}`);
  await window.waitFor(/^─ 1 of /m);
  window.press("eduL");
  window.press("?");
  await window.waitFor("Available keys");
  expect(window.text()).not.toMatch(/on\/off|reload all|upload|delete/);
  expect(await answer("/guard/")).toBe("guard");
});

test("keeps the list of plugins while the daemon is unreachable", async () => {
  const own = await DashboardSession.open();
  try {
    const window = await own.tui("--screen plugins");
    await window.waitFor("plugin-gateway");
    await own.daemon.stop();
    await window.waitFor(/unreachable for \d+ s/);
    expect(window.text()).toContain("plugin-gateway");
  } finally {
    await own.close();
  }
});
