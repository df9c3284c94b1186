import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";
import { dropPaths } from "./drop-paths.js";
import { expectAccessible } from "./expect-accessible.js";
import { openPanelFixture, versionFiles, type PanelFixture } from "./panel-fixture.js";

// axe checks each state four times, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let fixture: PanelFixture;
let page: Page;

beforeAll(async () => {
  fixture = await openPanelFixture({
    ...versionFiles("shop", "1.0.0", "the shop"),
    "coder/1.0.0/manifest.yaml": 'name: coder\nversion: "1.0.0"\n',
    "coder/1.0.0/index.js": 'export default { fetch: () => new Response("coded") };\n',
    "shop/1.0.0/assets/style.css": "body { color: red }\r\n",
    "shop/1.0.0/assets/logo.bin": "\0\u0001\0",
    "shop/1.0.0/assets/long.txt": "x".repeat(600_000),
    "shop/1.0.0/old/gone.txt": "soon gone",
  });
  // Provoked: an invalid path, a missing file, an existing name, and a file that another client has changed.
  page = await fixture.open("apps/shop", { provoked: [400, 404, 409, 412] });
});

afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

const version = () => path.join(fixture.daemon.directory, "workers/shop/1.0.0");
const served = async (below: string) => (await fetch(`${fixture.daemon.url}/shop/${below}`)).text();
const openAt = (folder: string, file?: string) =>
  page.goto(`${fixture.daemon.url}/cpanel/apps/shop/files?path=workers/shop/${folder}${file === undefined ? "" : `&file=${file}`}`);
const names = () => page.getByRole("rowheader").allTextContents();
/** The link of an entry, or of a parent folder. */
const entry = (name: string) => page.getByRole("link", { name, exact: true });
const press = (name: string) => page.getByRole("button", { name, exact: true }).click();

test("opens folders by links and stores the path in the URL and browser history", async () => {
  await page.getByRole("link", { name: "Files", exact: true }).click();
  await page.getByText("Open a version to change its files.").waitFor();
  await entry("1.0.0/").click();
  await expect.poll(names).toEqual(["assets/", "old/", "index.html", "manifest.yaml"]);
  await expectAccessible(page);
  await entry("assets/").click();
  await expect.poll(names).toEqual(["logo.bin", "long.txt", "style.css"]);
  expect(new URL(page.url()).searchParams.get("path")).toBe("workers/shop/1.0.0/assets");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download style.css" }).click()]);
  expect(await readFile(await download.path(), "utf8")).toBe("body { color: red }\r\n");
  await page.goBack();
  await entry("index.html").waitFor();
});

test("stores a text file with its original line endings, and serves it immediately", async () => {
  await openAt("1.0.0/assets", "style.css");
  const text = page.getByRole("textbox", { name: "Text of style.css" });
  await text.fill("body { color: blue }\np { margin: 0 }\n");
  await expectAccessible(page);
  await page.getByRole("navigation", { name: "Pages of shop" }).getByRole("link", { name: "Logs" }).click();
  await page.getByRole("alertdialog", { name: "style.css is not saved" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("alertdialog", { name: "style.css is not saved" }).getByRole("button", { name: "Keep editing" }).click();
  await press("Save");
  await page.getByText("style.css is saved; shop 1.0.0 answers 200.").waitFor();
  expect(await served("assets/style.css")).toBe("body { color: blue }\r\np { margin: 0 }\r\n");
});

test("asks before it overwrites a file that another client has changed or deleted", async () => {
  await entry("1.0.0").click();
  await entry("index.html").click();
  const text = page.getByRole("textbox", { name: "Text of index.html" });
  await text.fill("mine");
  await writeFile(path.join(version(), "index.html"), "theirs");
  await press("Save");
  const dialog = page.getByRole("alertdialog", { name: "index.html was changed meanwhile" });
  await dialog.waitFor();
  await expectAccessible(page);
  expect(await readFile(path.join(version(), "index.html"), "utf8")).toBe("theirs");
  await dialog.getByRole("button", { name: "Show the current version" }).click();
  await expect.poll(() => text.innerText()).toBe("theirs");
  await text.fill("both");
  await text.press("Control+s");
  await page.getByText("index.html is saved").waitFor();
  expect(await served("")).toBe("both");
  await text.fill("both again");
  // The page requests the app after each save. The file is deleted after that request.
  await Promise.all([page.waitForResponse((response) => response.url().endsWith("/shop@1.0.0/")), text.press("Control+s")]);
  expect(await served("")).toBe("both again");
  await text.fill("mine");
  await rm(path.join(version(), "index.html"));
  await press("Save");
  const gone = page.getByRole("alertdialog", { name: "index.html was deleted meanwhile" });
  await gone.waitFor();
  expect(await readdir(version())).not.toContain("index.html");
  await gone.getByRole("button", { name: "Save again" }).click();
  await expect.poll(() => served("")).toBe("mine");
  // Leaving before the response has arrived opens a dialog about unsaved text.
  await page.getByText("Not saved").waitFor({ state: "hidden" });
});

test("shows why it does not display a binary or large file", async () => {
  await entry("1.0.0").click();
  await entry("assets/").click();
  await entry("logo.bin").click();
  await page.getByText("logo.bin is not text").waitFor();
  await expectAccessible(page);
  await page.goBack();
  await entry("long.txt").click();
  await page.getByText("long.txt is too large to show").waitFor();
  await expectAccessible(page);
});

test("shows no files when the path points outside of the version", async () => {
  await openAt("1.0.0/../../other");
  await page.getByText("The files could not be read").waitFor();
  await expectAccessible(page);
  expect(await names()).toEqual([]);
});

test("lists the files that an upload will replace before the upload starts", async () => {
  const directory = await temporaryDirectory();
  await writeTree(directory, { "new näme.txt": "new", "index.html": "uploaded", "folder/in.txt": "in", "folder/far/below.txt": "below" });
  const at = (name: string) => path.join(directory, name);
  await openAt("1.0.0");
  await entry("index.html").waitFor();
  await dropPaths(page, [at("new näme.txt"), at("index.html")]);
  const dialog = page.getByRole("dialog", { name: "Upload 2 files?" });
  await dialog.getByText("Replaces existing files: index.html").waitFor();
  await expectAccessible(page);
  expect(await served("")).toBe("mine");
  await dialog.getByRole("button", { name: "Upload" }).click();
  await entry("new näme.txt").waitFor();
  // While the dialog is open the page accepts no drop; the list is updated before the dialog closes.
  await dialog.waitFor({ state: "hidden" });
  expect([await served(""), await served("new%20n%C3%A4me.txt")]).toEqual(["uploaded", "new"]);
  await dropPaths(page, [at("folder"), at("index.html")]);
  const folders = page.getByRole("dialog", { name: "Upload 3 files?" });
  await folders.getByText("Replaces existing files: index.html").waitFor();
  let goOn: (() => void) | undefined;
  const looked = new Promise<void>((resolve) => (goOn = resolve));
  await page.route("**/api/workers/files/upload", (route) => looked.then(() => route.continue()));
  await folders.getByRole("button", { name: "Upload" }).click();
  await page.getByRole("progressbar", { name: "Upload" }).waitFor();
  await expectAccessible(page);
  goOn?.();
  await entry("folder/").waitFor();
  await folders.waitFor({ state: "hidden" });
  expect([await served("folder/in.txt"), await served("folder/far/below.txt")]).toEqual(["in", "below"]);
  await dropPaths(page, [at("folder")]);
  await page.getByText("Replaces existing files: files of the same name in folder/").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await mkdir(at("hollow/in"), { recursive: true });
  await dropPaths(page, [at("hollow")]);
  await page.getByText("The dropped folder contains no files.").waitFor();
  const [chooser] = await Promise.all([page.waitForEvent("filechooser"), press("Upload files")]);
  await chooser.setFiles([at("folder/in.txt")]);
  await page.getByRole("dialog", { name: "Upload 1 file?" }).getByRole("button", { name: "Upload" }).click();
  await entry("in.txt").waitFor();
});

test("creates, renames and moves files; deletes a folder after the name is typed", async () => {
  await press("New folder");
  await expectAccessible(page);
  await page.getByLabel("Name", { exact: true }).fill("pages");
  await press("Create folder");
  await entry("pages/").waitFor();
  await press("Rename in.txt");
  await page.getByLabel("New name").fill("index.html");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByText("Nothing was changed").waitFor();
  await expectAccessible(page);
  expect(await served("")).toBe("uploaded");
  await page.getByLabel("New name").fill("out.txt");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await entry("out.txt").waitFor();
  await press("Move out.txt");
  await expectAccessible(page);
  await page.getByLabel("To").fill("workers/shop/1.0.0/pages");
  await page.getByRole("dialog").getByRole("button", { name: "Move" }).click();
  await expect.poll(() => entry("out.txt").count()).toBe(0);
  expect(await served("pages/out.txt")).toBe("in");
  await press("Delete old");
  const dialog = page.getByRole("alertdialog", { name: "Delete old?" });
  expect(await dialog.getByRole("button", { name: "Delete folder" }).isDisabled()).toBe(true);
  await expectAccessible(page);
  await dialog.getByLabel("Type old to confirm").fill("old");
  expect(await served("old/gone.txt")).toBe("soon gone");
  await dialog.getByRole("button", { name: "Delete folder" }).click();
  await expect.poll(() => entry("old/").count()).toBe(0);
  expect((await fetch(`${fixture.daemon.url}/shop/old/gone.txt`)).status).toBe(404);
});

test("shows that a folder is empty, and that a file is not readable", async () => {
  await mkdir(path.join(version(), "empty"));
  await openAt("1.0.0/empty");
  await page.getByText("This folder is empty").waitFor();
  await expectAccessible(page);
  await openAt("1.0.0", "nowhere.txt");
  await page.getByText("nowhere.txt could not be read").waitFor();
  await expectAccessible(page);
});

test("shows files without edit actions to a viewer key, and no files of built-in apps", async () => {
  const viewer = await fixture.open("apps/shop/files?path=workers/shop/1.0.0", { key: await fixture.key({ role: "viewer" }) });
  await viewer.getByText("This key is read-only.").waitFor();
  expect(
    await viewer
      .getByRole("main")
      .getByRole("button", { name: /New folder|Upload|Rename|Move|Delete/ })
      .count(),
  ).toBe(0);
  await viewer.getByRole("link", { name: "index.html", exact: true }).click();
  const text = viewer.getByRole("textbox", { name: "Text of index.html" });
  await text.waitFor();
  expect(await text.getAttribute("aria-readonly")).toBe("true");
  await expectAccessible(viewer);
  await page.goto(`${fixture.daemon.url}/cpanel/apps/cpanel/files`);
  await page.getByText("This package is part of the daemon. Its files are not shown.").waitFor();
  await expectAccessible(page);
});

test("shows the error when a saved file breaks an app, and Undo restores the file", async () => {
  const editor = await fixture.open("apps/coder/files?path=workers/coder/1.0.0&file=index.js", { provoked: [502] });
  const text = editor.getByRole("textbox", { name: "Text of index.js" });
  await text.fill("const greeting = 1;\nnothing.isThere();\nexport default {};\n");
  await editor.getByRole("button", { name: "Save", exact: true }).click();
  const alert = editor.getByRole("alert");
  await alert.getByText("index.js is saved, and coder 1.0.0 answers 502").waitFor();
  await alert.getByText(/^ReferenceError: nothing is not defined\s+at index\.js:2:1$/).waitFor();
  expect(await alert.getByRole("link", { name: "See logs" }).getAttribute("href")).toContain("apps/coder/logs?level=error");
  expect(await editor.getByRole("region", { name: "Messages" }).getByText("is saved").count()).toBe(0);
  await expectAccessible(editor);
  await alert.getByRole("button", { name: "Undo the save" }).click();
  await editor.getByText("index.js is saved; coder 1.0.0 answers 200.").waitFor();
  expect(await alert.count()).toBe(0);
  expect(await (await fetch(`${fixture.daemon.url}/coder/`)).text()).toBe("coded");

  await text.fill("const greeting = 1;\nconst = 2;\n");
  await editor.getByRole("button", { name: "Save", exact: true }).click();
  await alert.getByText(/SyntaxError: index\.js:2:7: Expected identifier/).waitFor();
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await editor.route("**/api/workers/files/upload", (route) => held.then(() => route.continue()));
  await alert.getByRole("button", { name: "Undo the save" }).click();
  await editor.getByRole("button", { name: "Saving…" }).waitFor();
  expect(await alert.count()).toBe(0);
  release?.();
  await editor.getByText("index.js is saved; coder 1.0.0 answers 200.").waitFor();
  expect(await alert.count()).toBe(0);
});

test("shows that a deleted file breaks an app, and that an upload repairs the app", async () => {
  const directory = await temporaryDirectory();
  await writeTree(directory, { "index.js": 'export default { fetch: () => new Response("mended") };\n' });
  const folder = await fixture.open("apps/coder/files?path=workers/coder/1.0.0", { provoked: [502] });
  await folder.getByRole("button", { name: "Delete index.js" }).click();
  const dialog = folder.getByRole("alertdialog", { name: "Delete index.js?" });
  await dialog.getByLabel("Type index.js to confirm").fill("index.js");
  await dialog.getByRole("button", { name: "Delete file" }).click();
  const alert = folder.getByRole("alert");
  await alert.getByText(/^index\.js is deleted, and coder 1\.0\.0 answers 50/).waitFor();
  await expectAccessible(folder);

  await dropPaths(folder, [path.join(directory, "index.js")]);
  await folder.getByRole("dialog", { name: "Upload 1 file?" }).getByRole("button", { name: "Upload" }).click();

  await folder.getByText("1 file is uploaded; coder 1.0.0 answers 200.").waitFor();
  expect(await alert.count()).toBe(0);
  expect(await (await fetch(`${fixture.daemon.url}/coder/`)).text()).toBe("mended");
});

test("reloads a plugin after an edit of its files, and shows whether the plugin loaded", async () => {
  const plugin = path.join(fixture.daemon.directory, "plugins/greeter");
  await writeTree(plugin, { "manifest.yaml": "name: greeter\nversion: 1.0.0\n", "plugin.js": "export default {};" });
  const headers = { "x-api-key": fixture.daemon.rootKey };
  expect((await fetch(`${fixture.daemon.url}/api/plugins/reload`, { method: "POST", headers })).status).toBe(200);
  await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: "Plugins" }).click();
  await page.getByRole("link", { name: "greeter", exact: true }).click();
  await page.getByRole("link", { name: "Files", exact: true }).click();
  await entry("plugin.js").waitFor();
  await expectAccessible(page);
  await entry("plugin.js").click();
  await page.getByRole("textbox", { name: "Text of plugin.js" }).fill("export default { hooks: {} };");
  await press("Save");
  await page.getByText("plugin.js is saved; greeter is loaded.").waitFor();
  expect(await readFile(path.join(plugin, "plugin.js"), "utf8")).toBe("export default { hooks: {} };");
});
