import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Client } from "../../../src/shared/client.js";
import { connect, uploadOf } from "../../support/connect.js";
import { packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";
import { boardCode, boardManifest, packPlugin } from "./board-plugin.js";
import { dropPaths } from "./drop-paths.js";
import { expectAccessible } from "./expect-accessible.js";
import { PanelBrowser, signIn, type Provoked } from "./panel-browser.js";

// axe checks a page up to six times in some of these tests, for seconds each on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let daemon: TestDaemon;
let browser: PanelBrowser;
let client: Client;

async function install(name: string, archive: Buffer): Promise<void> {
  await client.plugins.upload({ file: uploadOf(`${name}.tgz`, archive) });
}

beforeAll(async () => {
  [daemon, browser] = await Promise.all([startDaemon(), PanelBrowser.open()]);
  client = connect(daemon.url, daemon.rootKey);
  await install("basis", await packPlugin("name: basis\nversion: 1.0.0\n"));
  await install("board", await packPlugin(boardManifest, boardCode));
  await install("broken", await packPlugin("name: broken\nversion: 1.0.0\ndependencies: [nowhere]\n"));
  const byHand = path.join(daemon.directory, "plugins", "by-hand");
  await mkdir(byHand);
  await Promise.all([
    writeFile(path.join(byHand, "manifest.yaml"), "name: by-hand\nversion: 1.0.0\n"),
    writeFile(path.join(byHand, "plugin.js"), "export default {};"),
  ]);
});

afterAll(async () => {
  await Promise.all([daemon.dispose(), browser.close()]);
});

async function open(at: string, options: { key?: string; provoked?: readonly Provoked[] } = {}): Promise<Page> {
  const page = await browser.page(`${daemon.url}/cpanel/${at}`, { provoked: options.provoked ?? [] });
  await signIn(page, options.key ?? daemon.rootKey);
  return page;
}

function rowOf(page: Page, name: string) {
  return page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
}

type Rights = Omit<Parameters<Client["keys"]["create"]>[0]["body"], "name">;

async function newKey(rights: Rights): Promise<string> {
  return (await client.keys.create({ body: { name: "reader", ...rights } })).data.key;
}

async function countChanges(page: Page): Promise<number> {
  return page
    .getByRole("main")
    .getByRole("button", { name: /^(?:Upload|Reload|Disable|Enable|Delete)/ })
    .count();
}

const statusOf = async (name: string) => (await client.plugins.list()).find((plugin) => plugin.name === name)?.status;

test("lists plugins with state and reason, filters the list, and reloads the plugins", async () => {
  const page = await open("plugins");
  await rowOf(page, "@team/board").locator(".state-ok").waitFor();
  await rowOf(page, "broken")
    .getByText(/nowhere/)
    .waitFor();
  await rowOf(page, "plugin-gateway").getByText("is installed but disabled").waitFor();
  await rowOf(page, "by-hand").locator(".state-degraded").waitFor();
  expect(await rowOf(page, "plugin-gateway").getByRole("button").allTextContents()).toEqual(["Enable"]);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Reload all" }).click();
  await page.getByText(/3 of 5 plugins loaded\. 1 failed/).waitFor();
  await rowOf(page, "by-hand").locator(".state-ok").waitFor();
  await page.getByLabel("State").selectOption("failing");
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  expect(page.url()).toMatch(/\?state=failing$/);
  await page.getByRole("searchbox").fill("no such plugin");
  await page.getByText("No plugin matches").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await expect.poll(() => page.getByRole("row").count()).toBe(6);
  await page.context().close();
  expect(browser.complaints).toEqual([]);
});

test("disables and enables a plugin, and shows its details and dependent plugins", async () => {
  const page = await open("plugins");
  await page.getByRole("button", { name: "Disable @team/board" }).click();
  await page.getByText("@team/board is off.").waitFor();
  expect(await statusOf("@team/board")).toBe("disabled");
  await expect.poll(() => page.getByRole("navigation", { name: "Pages of plugins" }).count()).toBe(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("@team/board is on.").waitFor();
  expect(await statusOf("@team/board")).toBe("loaded");
  await rowOf(page, "@team/board").getByRole("link").click();
  await page.getByRole("heading", { name: "@team/board", level: 1 }).waitFor();
  expect(page.url()).toBe(`${daemon.url}/cpanel/plugins/@team/board`);
  await page.getByRole("heading", { name: "Loaded" }).waitFor();
  // The manifest contains this name. The daemon does not verify it.
  await page.getByText(/: A new board · Git user Anna$/).waitFor();
  await page.locator(".button-plain", { hasText: "Delete" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "basis" }).click();
  await page.getByText("Needed by").waitFor();
  await expectAccessible(page);
  await page.goto(`${daemon.url}/cpanel/plugins/nobody`);
  await page.getByText("There is no plugin nobody").waitFor();
  await expectAccessible(page);
  await page.context().close();
  expect(browser.complaints).toEqual([]);
});

test("shows the preview and the rejection of a plugin upload, and deletes a plugin", async () => {
  const page = await open("plugins", { provoked: [400] });
  const choose = async (name: string, buffer: Buffer) => {
    const chooser = page.waitForEvent("filechooser");
    await page.getByRole("button", { name: "Upload archive" }).click();
    await (await chooser).setFiles({ name, mimeType: "application/octet-stream", buffer });
  };
  const before = await client.plugins.list();
  await choose("notes.tgz", Buffer.from("no archive"));
  await page.getByRole("alert").getByText("INVALID_ARCHIVE").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Close" }).click();
  await choose("notes.tgz", await packPlugin("name: notes\nversion: 3.0.0\nbase: /board\n"));
  await page.getByText("A new plugin notes. It is loaded immediately").waitFor();
  await page.getByText("A plugin runs inside the daemon").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  const refusal = page.getByRole("dialog").getByRole("alert");
  await refusal.getByText("The upload failed, and nothing was installed").waitFor();
  expect(await refusal.textContent()).toMatch(/[A-Z_]+ request \S{8,}/);
  await expectAccessible(page);
  expect(await client.plugins.list()).toEqual(before);
  await page.getByRole("button", { name: "Cancel" }).click();
  await choose("notes.tgz", await packPlugin("name: notes\nversion: 3.0.0\n"));
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  const done = page.getByRole("dialog", { name: "notes 3.0.0 is installed" });
  await done.getByText("It is loaded.").waitFor();
  await expectAccessible(page);
  await done.getByRole("button", { name: "Close" }).click();
  expect(await statusOf("notes")).toBe("loaded");
  await page.getByRole("button", { name: "Delete notes" }).click();
  const confirm = page.getByRole("button", { name: "Delete plugin" });
  await page.getByLabel("Type notes to confirm").fill("note");
  expect(await confirm.isDisabled()).toBe(true);
  await expectAccessible(page);
  expect(await statusOf("notes")).toBe("loaded");
  await page.getByLabel("Type notes to confirm").fill("notes");
  await confirm.click();
  await page.getByText("The plugin notes is deleted.").waitFor();
  expect(await statusOf("notes")).toBeUndefined();
  await expect.poll(() => rowOf(page, "notes").count()).toBe(0);
  await page.context().close();
  expect(browser.complaints).toEqual([]);
});

test("shows why a plugin rejects its settings, and keeps the previous settings", async () => {
  const settings = "name: plugin-gateway\nenabled: true\nsecurityHeaders:\n  frameOptions: DENY\n";
  await install("gateway", await packFiles({ "manifest.yaml": settings }));
  const page = await open("plugins/plugin-gateway/files?path=plugins/plugin-gateway&file=manifest.yaml", { provoked: [400] });
  const text = page.getByRole("textbox", { name: "Text of manifest.yaml" });
  await text.fill(settings.replace("DENY", "MAYBE"));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("alert").getByText("securityHeaders.frameOptions").waitFor();
  await expectAccessible(page);
  expect(await statusOf("plugin-gateway")).toBe("loaded");
  expect((await fetch(`${daemon.url}/`)).headers.get("x-frame-options")).toBe("DENY");
  await text.fill(settings.replace("DENY", "SAMEORIGIN"));
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("manifest.yaml is saved; plugin-gateway is loaded.").waitFor();
  expect(await page.getByRole("alert").count()).toBe(0);
  expect((await fetch(`${daemon.url}/`)).headers.get("x-frame-options")).toBe("SAMEORIGIN");
  await client.plugins.remove({ params: { name: "plugin-gateway" } });
  await page.context().close();
  expect(browser.complaints).toEqual([]);
});

test("packs a dropped folder as a plugin, and shows why the plugin failed to load", async () => {
  const page = await open("plugins");
  await rowOf(page, "basis").waitFor();
  const folder = path.join(await temporaryDirectory(), "lonely");
  await writeTree(folder, {
    "manifest.yaml": "name: lonely\nversion: 0.1.0\npluginEntry: lib/start.js\ndependencies: [nobody]\n",
    ".gitignore": "lib\n",
    "lib/start.js": "export default {};",
    ".env": "SECRET=1",
  });
  await dropPaths(page, [folder]);
  await page.getByRole("dialog", { name: "Upload lonely 0.1.0?" }).getByRole("button", { name: "Upload" }).click();
  const done = page.getByRole("dialog", { name: "lonely 0.1.0 is installed" });
  await done.getByText(/nobody/).waitFor();
  expect((await readdir(path.join(daemon.directory, "plugins/lonely"), { recursive: true })).toSorted()).toEqual([
    ".gitignore",
    "lib",
    "lib/start.js",
    "manifest.yaml",
  ]);
  await done.getByRole("link", { name: "Show lonely" }).click();
  await page.getByRole("heading", { name: "lonely", level: 1 }).waitFor();
  await client.plugins.remove({ params: { name: "lonely" } });
  const viewer = await open("plugins", { key: await newKey({ role: "viewer" }) });
  await rowOf(viewer, "basis").waitFor();
  await dropPaths(viewer, [folder]);
  await viewer.getByText("This key may not install plugins").waitFor();
  expect(await statusOf("lonely")).toBeUndefined();
  for (const each of [page, viewer]) await each.context().close();
  expect(browser.complaints).toEqual([]);
});

test("shows a placeholder while the plugins load, then an error, then the list", async () => {
  const page = await open("overview", { provoked: [500] });
  let answer: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (answer = resolve));
  const error = { code: "INTERNAL_ERROR", message: "The daemon failed." };
  await page.route("**/api/plugins", async (route) => {
    await held;
    await route.fulfill({ status: 500, json: { error }, headers: { "x-request-id": "request-of-a-test" } });
  });
  await page.goto(`${daemon.url}/cpanel/plugins`);
  await page.getByText("Loading plugins").waitFor({ state: "attached" });
  await expectAccessible(page);
  answer?.();
  const note = page.getByRole("alert");
  await note.getByText("The plugins could not be read").waitFor();
  expect(await note.textContent()).toMatch(/INTERNAL_ERROR.*request-of-a-test/);
  await expectAccessible(page);
  await page.unroute("**/api/plugins");
  await page.getByRole("button", { name: "Try again" }).click();
  await rowOf(page, "basis").waitFor();
  await page.context().close();
  expect(browser.complaints).toEqual([]);
});

test("offers no changes to a read-only key, and rejects a key without plugins:read", async () => {
  const viewer = await open("plugins", { key: await newKey({ role: "viewer" }) });
  await rowOf(viewer, "basis").waitFor();
  expect(await countChanges(viewer)).toBe(0);
  await rowOf(viewer, "basis").getByRole("link").click();
  await viewer.getByText("Needed by").waitFor();
  expect(await countChanges(viewer)).toBe(0);
  const team = await open("plugins", { key: await newKey({ role: "editor", namespaces: ["@team"] }) });
  await rowOf(team, "@team/board").waitFor();
  expect(await team.getByRole("row").count()).toBe(2);
  const stranger = await open("plugins", { key: await newKey({ role: "custom", permissions: ["keys:read"] }) });
  for (const at of ["plugins", "plugins/basis", "plugins/@team/board?at=%2Fboard%2F"]) {
    await stranger.goto(`${daemon.url}/cpanel/${at}`);
    await stranger.getByText("This key may not see plugins").waitFor();
    expect(await stranger.getByRole("navigation", { name: "Pages of plugins" }).count()).toBe(0);
  }
  await expectAccessible(stranger);
  for (const page of [viewer, team, stranger]) await page.context().close();
  expect(browser.complaints).toEqual([]);
});
