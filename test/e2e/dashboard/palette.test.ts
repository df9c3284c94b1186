import { afterAll, beforeAll, expect, test } from "vitest";
import { keys } from "../../support/terminal-window.js";
import { writeTree } from "../../support/write-tree.js";
import { DashboardSession } from "./dashboard-session.js";

let session: DashboardSession;

beforeAll(async () => {
  session = await DashboardSession.open();
  await writeTree(session.shell.home, {
    "other/manifest.yaml": "name: other\nversion: 2.0.0\n",
    "other/index.js": "export default { fetch: () => new Response('other') };",
  });
});

afterAll(() => session?.close());

const statusOf = async (path: string) => (await fetch(session.daemon.url + path)).status;

test("completes commands, flags, paths and worker names when tab is pressed", async () => {
  const window = await session.tui();
  await window.waitFor("ready");
  window.press(":");
  await window.waitFor("tab: api · audit · auth");
  window.press(`wo${keys.tab}`);
  await window.waitFor("runtimectl workers ");
  window.press(`upl${keys.tab}`);
  await window.waitFor("tab: app/ · other/");
  window.press(`o${keys.tab}`);
  await window.waitFor("runtimectl workers upload other/");
  window.press(` --dry${keys.tab}`);
  await window.waitFor("runtimectl workers upload other/ --dry-run");
  window.press("\u0015workers disable ");
  await window.waitFor("tab: app · app@1.0.0");
  window.press(`a${keys.tab}@${keys.tab}`);
  await window.waitFor("runtimectl workers disable app@1.0.0");
});

test("runs a typed command, and shows earlier commands when the up key is pressed", async () => {
  const window = await session.tui();
  await window.waitFor("ready");
  window.press(`:workers list${keys.enter}`);
  await window.waitFor("runtimectl workers list → 0");
  await window.waitFor(/app +1\.0\.0 +(?:ok|idle) +live +uploaded/);
  window.press(`${keys.esc}:help exit-codes${keys.enter}`);
  await window.waitFor("runtimectl help exit-codes → 0");
  window.press(`${keys.esc}:`);
  await window.waitFor("tab: api");
  window.press(keys.up);
  await window.waitFor(/runtimectl help exit-codes\s*\n/);
  window.press(keys.up);
  await window.waitFor(/runtimectl workers list\s*\n/);
  window.press(keys.down);
  await window.waitFor(/runtimectl help exit-codes\s*\n/);
});

test('asks the user before a deletion, and deletes nothing after the answer "no"', async () => {
  const upload = await session.shell.run("workers upload other");
  expect(upload.status, upload.stderr).toBe(0);
  const window = await session.tui();
  await window.waitFor("ready");
  window.press(`:workers delete other${keys.enter}`);
  await window.waitFor("Type other to confirm");
  window.press(keys.esc);
  await window.waitFor("not confirmed; nothing changed");
  expect(window.text()).toContain("runtimectl workers delete other → 3");
  expect(await statusOf("/other/")).toBe(200);
  window.press(`${keys.esc}:`);
  await window.waitFor("tab: api");
  window.press(`${keys.up}${keys.enter}`);
  await window.waitFor("Type other to confirm");
  window.press(`other${keys.enter}`);
  await window.waitFor("runtimectl workers delete other → 0");
  expect(await statusOf("/other/")).toBe(404);
});

test("asks for the profile name before a deletion on a production profile", async () => {
  const added = await session.shell.run(`auth login --url ${session.daemon.url} --key-file root.key --profile live --production`);
  expect(added.status, added.stderr).toBe(0);
  const window = await session.tui("--profile live", { columns: 100, rows: 24 });
  await window.waitFor("PRODUCTION");
  await window.waitFor("ready");
  window.press(`:workers delete app${keys.enter}`);
  await window.waitFor("Type the profile name (live) to confirm");
  window.press(`app${keys.enter}`);
  await window.waitFor("The name does not match. Nothing changed.");
  window.press(keys.esc);
  await window.waitFor("not confirmed; nothing changed");
  expect(await statusOf("/app/")).toBe(200);
  await session.shell.run("profile use default");
});

test("shows a new API key only once, and does not store the API key", async () => {
  const window = await session.tui();
  await window.waitFor("ready");
  window.press(`:keys create --role viewer --name from-palette${keys.enter}`);
  await window.waitFor("This key is shown only once");
  const secret = /rtk_[\w-]{30,}/.exec(window.text())?.[0] ?? "";
  expect(secret).toHaveLength(47);
  expect(window.text()).toContain("(the key)");
  window.press("j");
  window.press(keys.esc);
  await window.waitFor("Did you store the key?");
  expect(window.text()).toContain(secret);
  window.press("y");
  await window.waitFor(() => !window.text().includes(secret.slice(12)));
  window.press("q");
  await window.ended;
  expect(window.remembered()).not.toContain(secret.slice(12));
});

test("rejects a command that contains an API key, and omits it from the history", async () => {
  const window = await session.tui();
  await window.waitFor("ready");
  window.press(`:workers list${keys.enter}`);
  await window.waitFor("→ 0");
  window.press(`${keys.esc}:auth login rtk_${"a".repeat(43)}${keys.enter}`);
  await window.waitFor("the command line contains an API key");
  window.press(`${keys.esc}:`);
  await window.waitFor("tab: api");
  window.press(keys.up);
  await window.waitFor(/runtimectl workers list\s*\n/);
});

test("shows an error for an unknown command and keeps running", async () => {
  const window = await session.tui();
  await window.waitFor("ready");
  window.press(`:wrkers list${keys.enter}`);
  await window.waitFor("→ 2");
  window.press(`${keys.esc}:tui${keys.enter}`);
  await window.waitFor("the command does not exist or is not available in the dashboard");
  window.press(`${keys.esc}2`);
  await window.waitFor(/app +1\.0\.0 +[–●] (?:idle|ok)/);
});

test.each([
  [60, 15],
  [80, 24],
])("shows every shortcut of the screen in the help, in a terminal of %dx%d", async (columns, rows) => {
  const window = await session.tui("--screen plugins", { columns, rows });
  await window.waitFor("plugin-gateway");
  await window.waitFor("q quit");
  window.press("?");
  await window.waitFor("Available keys");
  await window.waitFor(/L +reload all/);
  window.press("G");
  await window.waitFor("to change keys, set ui.keys in config.yaml");
  window.press(keys.esc);
  await window.waitFor("plugin-gateway");
});

test("uses the shortcuts in config.yaml, and rejects two actions with one shortcut", async () => {
  const own = await DashboardSession.open();
  try {
    const { stdout } = await own.shell.run("auth status --json");
    const [profile] = [JSON.parse(stdout) as { profile?: { value?: string } }];
    expect(profile).toBeDefined();
    const withKeys = (text: string) =>
      writeTree(own.shell.home, {
        ".config/runtimectl/config.yaml": `current: default\nprofiles:\n  default:\n    url: ${own.daemon.url}\nui:\n  keys:\n    ${text}\n`,
      });
    await withKeys("plugins.toggle: o");
    const window = await own.tui("--screen plugins");
    await window.waitFor("o on/off");
    await withKeys("plugins.toggle: d");
    const refused = await own.shell.runInTerminal("tui");
    expect(refused.status).toBe(2);
    expect(refused.stdout).toContain("the key d is assigned to both plugins.toggle and plugins.delete");
    expect(refused.stdout).not.toContain("\u001b[?1049h");
  } finally {
    await own.close();
  }
});
