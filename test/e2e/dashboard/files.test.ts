import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { HeldWay } from "../../support/held-way.js";
import { keys, type TerminalWindow, type WindowOptions } from "../../support/terminal-window.js";
import { writeTree } from "../../support/write-tree.js";
import { DashboardSession } from "./dashboard-session.js";
import { steadyText } from "./steady-text.js";

let session: DashboardSession;

beforeAll(async () => {
  session = await DashboardSession.open();
  await writeTree(path.join(session.daemon.directory, "plugins"), {
    "guard/manifest.yaml": "name: guard\nversion: 1.0.0\n",
    "guard/plugin.js": "export default {};\n",
  });
  await writeTree(session.shell.home, {
    "site/manifest.yaml": "name: site\nversion: 1.0.0\n",
    "site/index.html": "<p>home</p>\n",
    "site/about.html": "<p>first</p>\n",
    "site/docs/notes.txt": "one\n\ttwo \u001b[2J\u001b]0;owned\u0007\nthree\n",
    "site/docs/image.bin": Buffer.from([1, 0, 2]),
    "put/new.html": "<p>new</p>\n",
    "put/deep/er.html": "<p>deep</p>\n",
    "about.html": "<p>second</p>\n",
  });
});

/** Restores the worker `site` to one version with its original files. */
beforeEach(async () => {
  await session.shell.run("workers delete site --yes");
  const { status, stderr } = await session.shell.run("workers upload site");
  if (status !== 0) throw new Error(stderr);
});

afterAll(() => session?.close());

const textOf = async (url: string) => (await fetch(session.daemon.url + url)).text();
const statusOf = async (url: string) => (await fetch(session.daemon.url + url)).status;
const version = "workers/site/1.0.0";

/** Opens the dashboard in the folder of the only version of `site`. */
async function inVersion(words = "", options: Partial<WindowOptions> = {}): Promise<TerminalWindow> {
  const window = await session.tui(`--screen files ${words}`, options);
  await window.waitFor("> workers/");
  await window.waitFor("as ");
  window.press(keys.enter);
  await window.waitFor("site/");
  window.press(`/site${keys.enter}${keys.enter}`);
  await window.waitFor("> 1.0.0/");
  window.press(keys.enter);
  await window.waitFor("> docs/");
  return window;
}

async function select(window: TerminalWindow, name: string): Promise<void> {
  window.press(`/\u0015${name}${keys.enter}`);
  await window.waitFor(`> ${name}`);
}

const steady = (text: string) => steadyText(text).replace(/2000-01-01 \d\d:\d\d UTC/g, "2000-01-01 00:00 UTC");

test.each([
  [60, 15],
  [80, 24],
  [140, 45],
])("lists a folder in a terminal of %dx%d, with subfolders first", async (columns, rows) => {
  const window = await inVersion("", { columns, rows });
  await window.waitFor("index.html");
  await window.waitFor("ready");
  await window.waitFor("q quit");
  await expect(steady(await window.settledText())).toMatchFileSnapshot(`screens/files-${columns}x${rows}.txt`);
});

test("opens a folder with enter; esc shows its parent with the folder selected", async () => {
  const window = await inVersion();
  window.press(keys.enter);
  await window.waitFor(`${version}/docs`);
  await window.waitFor("notes.txt");
  window.press(keys.esc);
  await window.waitFor("> docs/");
  window.press(keys.esc);
  await window.waitFor("> 1.0.0/");
  window.press(keys.esc);
  await window.waitFor("> site/");
  window.press(keys.esc);
  await window.waitFor("> workers/");
  expect(window.text()).toMatch(/plugins\/ +plugins/);
  window.press(`j${keys.enter}`);
  await window.waitFor("> guard/");
});

test("shows a text file with its control codes escaped, and rejects a binary file", async () => {
  const window = await inVersion();
  window.press(keys.enter);
  await window.waitFor("notes.txt");
  await select(window, "notes.txt");
  window.press(keys.enter);
  await window.waitFor(`${version}/docs/notes.txt (esc closes)`);
  expect(window.text()).toMatch(/one\n +two \\x1b\[2J\\x1b\]0;owned\\x07\n +three/);
  expect(window.written()).not.toContain("\u001b]0;");
  window.press(`${keys.esc}${keys.esc}`);
  await select(window, "image.bin");
  window.press(keys.enter);
  await window.waitFor("failed: image.bin is not a text file");
});

test("the daemon serves a renamed file at its new name, and undo restores the old name", async () => {
  const window = await inVersion();
  await select(window, "about.html");
  window.press("M");
  await window.waitFor("new name of about.html: about.html");
  window.press(`\u0015home.html${keys.enter}`);
  await window.waitFor("done: about.html renamed to home.html");
  expect(await textOf("/site/home.html")).toContain("first");
  window.press("U");
  await window.waitFor("done: home.html renamed back to about.html");
  expect(await statusOf("/site/home.html")).toBe(404);
  window.press(`M${keys.esc}M\u0015${keys.enter}`);
  await select(window, "about.html");
  expect(await textOf("/site/about.html")).toContain("first");
});

test("creates a folder, moves a file into the folder, and shows why a path is invalid", async () => {
  const window = await inVersion();
  window.press("c");
  await window.waitFor(`new folder in ${version}:`);
  window.press(`pages${keys.enter}`);
  await window.waitFor(`done: ${version}/pages created`);
  await select(window, "about.html");
  window.press("m");
  await window.waitFor(`move about.html to: ${version}/about.html`);
  window.press(`\u0015${version}/pages${keys.enter}`);
  await window.waitFor(`done: ${version}/about.html moved to ${version}/pages`);
  expect(await textOf("/site/pages/about.html")).toContain("first");
  window.press(`${keys.esc}c`);
  await window.waitFor("new folder in");
  window.press(`../../../elsewhere${keys.enter}`);
  await window.waitFor("failed:");
  expect(await statusOf("/site/pages/about.html")).toBe(200);
});

test("deletes a file only after the user types its name", async () => {
  const window = await inVersion();
  await select(window, "about.html");
  window.press("d");
  await window.waitFor(`Delete the file ${version}/about.html permanently`);
  window.press(`y${keys.enter}`);
  await window.waitFor("The name does not match");
  window.press(keys.esc);
  await window.waitFor("nothing changed");
  expect(await textOf("/site/about.html")).toContain("first");
  window.press("d");
  await window.waitFor("Type about.html to confirm");
  window.press(`about.html${keys.enter}`);
  await window.waitFor(`done: ${version}/about.html deleted`);
  expect(await statusOf("/site/about.html")).toBe(404);
});

test("uploads a folder with its files, and asks before it overwrites a file", async () => {
  const window = await inVersion();
  window.press("u");
  await window.waitFor(`file or folder to upload to ${version}: ./`);
  window.press(`put${keys.tab}${keys.enter}`);
  await window.waitFor(`done: 2 files uploaded to ${version}`);
  expect(await textOf("/site/put/deep/er.html")).toContain("deep");
  await window.waitFor("put/");
  window.press(`uabout.html${keys.enter}`);
  await window.waitFor(`Overwrite about.html in ${version}`);
  window.press("n");
  await window.waitFor("nothing changed");
  expect(await textOf("/site/about.html")).toContain("first");
  window.press(`uabout.html${keys.enter}`);
  await window.waitFor("y/N");
  window.press("y");
  await window.waitFor(`done: 1 file uploaded to ${version}`);
  expect(await textOf("/site/about.html")).toContain("second");
  window.press(`unothing-of-this-name${keys.enter}`);
  await window.waitFor("does not exist");
});

test("saves a file and a folder to the local disk, and never overwrites local files", async () => {
  const window = await inVersion();
  await select(window, "about.html");
  window.press(keys.ctrlS);
  await window.waitFor("save as: ./about.html");
  window.press(keys.enter);
  await window.waitFor("about.html already exists; choose another name");
  expect(await readFile(path.join(session.shell.home, "about.html"), "utf8")).toContain("second");
  window.press(`${keys.ctrlS}\u0015saved.html${keys.enter}`);
  await window.waitFor("saved as");
  expect(await readFile(path.join(session.shell.home, "saved.html"), "utf8")).toBe("<p>first</p>\n");
  window.press(`${keys.esc}g${keys.ctrlS}`);
  await window.waitFor("save as: ./docs.zip");
  window.press(keys.enter);
  await window.waitFor(`done: ${version}/docs saved as`);
  expect((await readFile(path.join(session.shell.home, "docs.zip"))).subarray(0, 2).toString()).toBe("PK");
});

test("shows the progress of an upload; after esc, the daemon contains no new file", async () => {
  await writeFile(path.join(session.shell.home, "large.bin"), Buffer.alloc(16 * 1024 * 1024, 1));
  const way = await HeldWay.to(session.daemon.url, 1024 * 1024);
  onTestFinished(() => way.close());
  const window = await inVersion(`--url ${way.url} --key-file root.key`);
  window.press(`ularge.bin${keys.enter}`);
  await window.waitFor(/uploading 1 file [#.]{20} [1-9]\d? % of 16\.0 MB/);
  window.press(keys.esc);
  await window.waitFor("cancelled; nothing was written");
  way.open();
  expect(await statusOf("/site/large.bin")).toBe(404);
});

test("shows equivalent commands after x is pressed; read-only mode offers no changes", async () => {
  const window = await inVersion("", { rows: 40 });
  await select(window, "about.html");
  window.press("x");
  await window.waitFor("Equivalent commands");
  for (const line of [`rm ${version}/about.html`, `get ${version}/about.html`, `put ./file ${version}`, `mkdir ${version}/new`])
    expect(window.text()).toContain(`runtimectl files ${line}`);
  const looking = await inVersion("--readonly", { rows: 40 });
  looking.press("uMmcd?");
  await looking.waitFor("Available keys");
  expect(looking.text()).not.toMatch(/upload|rename|move|delete|create/);
  expect(looking.text()).toContain("save");
});

test("shows only permitted folders, and the missing permission for other folders", async () => {
  const made = await session.shell.run("keys create --permission workers:read --name looker --out looker.key");
  if (made.status !== 0) throw new Error(made.stderr);
  const window = await inVersion(`--url ${session.daemon.url} --key-file looker.key`);
  window.press("c");
  await window.waitFor("note: your key does not have the required permission workers:install");
  window.press("d");
  await window.waitFor("note: your key does not have the required permission workers:remove");
  window.press(`${keys.esc}${keys.esc}${keys.esc}`);
  await window.waitFor("> workers/");
  expect(window.text()).not.toContain("plugins/");
});
