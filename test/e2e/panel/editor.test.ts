import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { expectAccessible } from "./expect-accessible.js";
import { openPanelFixture, versionFiles, type PanelFixture } from "./panel-fixture.js";

// axe checks each state four times, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

const manifest = 'name: coder\nversion: "1.0.0"\n# A comment\nttl: 60\n';
let fixture: PanelFixture;

beforeAll(async () => {
  fixture = await openPanelFixture({
    ...versionFiles("shop", "1.0.0", "<!doctype html>\n<title>shop</title>\n<p>the shop</p>\n"),
    "coder/1.0.0/manifest.yaml": manifest,
    "coder/1.0.0/index.js": 'export default { fetch: () => new Response("coded") };\n',
  });
});

afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

const openFile = (name: string, file: string, provoked: readonly number[] = []) =>
  fixture.open(`apps/${name}/files?path=workers/${name}/1.0.0&file=${file}`, { provoked });
const textOf = (page: Page, file: string) => page.getByRole("textbox", { name: `Text of ${file}` });
const stored = (name: string, file: string) => readFile(path.join(fixture.daemon.directory, "workers", name, "1.0.0", file), "utf8");

/** Color of the first highlighted text in the editor. */
const colorOfExport = `getComputedStyle(document.querySelector(".code-editor").shadowRoot.querySelector(".cm-line span")).color`;

test("highlights code and numbers its lines, in the colors of the theme", async () => {
  const page = await openFile("coder", "index.js");
  await textOf(page, "index.js").waitFor();
  const keyword = page.locator(".cm-line span").getByText("export", { exact: true });
  await keyword.waitFor();
  expect(await page.locator(".cm-lineNumbers").innerText()).toContain("1");
  const colorIn = async (colorScheme: "light" | "dark") => {
    await page.emulateMedia({ colorScheme });
    return page.evaluate<string>(colorOfExport);
  };
  expect([await colorIn("light"), await colorIn("dark")]).toEqual(["rgb(59, 91, 219)", "rgb(138, 164, 255)"]);
  await expectAccessible(page);
});

test("indents with Tab, and leaves the editor with Escape followed by Tab", async () => {
  const page = await openFile("shop", "index.html");
  const text = textOf(page, "index.html");
  await text.focus();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("Tab");
  await expect.poll(() => page.locator(".cm-line").first().innerText()).toBe("  <!doctype html>");
  await page.getByText("To leave the editor with the keyboard, press Escape, then Tab.").waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Tab");
  expect(await page.evaluate("document.querySelector('.code-editor').shadowRoot.activeElement")).toBeNull();
  await text.focus();
  await page.keyboard.press("Control+z");
  await page.getByText("Not saved").waitFor({ state: "hidden" });
});

test("draws the exact characters of code, without ligatures", async () => {
  const page = await openFile("coder", "index.js");
  const text = textOf(page, "index.js");
  await text.fill("");
  await text.pressSequentially("// tab1\na ?? b => c\n");
  await text.blur();
  await page.evaluate(`document.querySelector("main").insertAdjacentHTML("afterbegin", "<pre>a != b ... c</pre>")`);
  const places = [page.locator(".cm-line").nth(0), page.locator(".cm-line").nth(1), page.locator("main > pre")];
  const draw = () => Promise.all(places.map(async (place) => (await place.screenshot()).toString("base64")));
  const drawn = await draw();
  for (const element of [
    `document.querySelector(".code-editor").shadowRoot.querySelector(".cm-scroller")`,
    `document.querySelector("main > pre")`,
  ])
    await page.evaluate(`${element}.style.fontVariantLigatures = "none"`);
  expect(await draw()).toEqual(drawn);
});

test("searches in the text with Ctrl+F", async () => {
  const page = await openFile("shop", "index.html");
  await textOf(page, "index.html").focus();
  await page.keyboard.press("Control+f");
  await page.getByRole("textbox", { name: "Find" }).pressSequentially("shop");
  await expect.poll(() => page.locator(".cm-searchMatch").count()).toBe(2);
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.getByRole("textbox", { name: "Find" }).waitFor({ state: "hidden" });
});

test("shows that a saved manifest names a missing file, and reverts the manifest", async () => {
  const page = await openFile("coder", "manifest.yaml", [502]);
  await textOf(page, "manifest.yaml").fill('name: coder\nversion: "1.0.0"\nentrypoint: missing.js\n');
  await page.keyboard.press("Control+s");
  const alert = page.getByRole("alert");
  await alert.getByText("manifest.yaml is saved, and coder 1.0.0 answers 502").waitFor();
  await expectAccessible(page);
  await alert.getByRole("button", { name: "Undo the save" }).click();
  await page.getByText("manifest.yaml is saved; coder 1.0.0 answers 200.").waitFor();
  expect(await stored("coder", "manifest.yaml")).toBe(manifest);
  expect(await (await fetch(`${fixture.daemon.url}/coder/`)).text()).toBe("coded");
});

test("offers Undo after a saved manifest changes the version or the name", async () => {
  const page = await openFile("coder", "manifest.yaml");
  await textOf(page, "manifest.yaml").fill('name: coder\nversion: "2.0.0"\n');
  await page.keyboard.press("Control+s");
  const alert = page.getByRole("alert");
  await alert.getByText("manifest.yaml is saved, and coder 1.0.0 is no longer installed").waitFor();
  await expectAccessible(page);
  await alert.getByRole("button", { name: "Undo the save" }).click();
  await page.getByText("manifest.yaml is saved; coder 1.0.0 answers 200.").waitFor();
  await textOf(page, "manifest.yaml").fill('name: other\nversion: "1.0.0"\n');
  await page.keyboard.press("Control+s");
  await page.getByText("No app named coder is installed").waitFor();
  await page.getByRole("region", { name: "Messages" }).getByRole("button", { name: "Undo the save" }).click();
  await expect.poll(() => stored("coder", "manifest.yaml")).toBe(manifest);
  await textOf(page, "manifest.yaml").waitFor();
});

test("shows why the daemon rejects an invalid manifest, and keeps the stored manifest", async () => {
  const page = await openFile("coder", "manifest.yaml", [400]);
  await textOf(page, "manifest.yaml").fill("name: [coder\n");
  await page.keyboard.press("Control+s");
  const alert = page.getByRole("alert");
  await alert.getByText("The file was not saved").waitFor();
  await alert.getByText("INVALID_PACKAGE_METADATA").waitFor();
  await expectAccessible(page);
  expect(await stored("coder", "manifest.yaml")).toBe(manifest);
  await page.getByRole("button", { name: "Discard changes" }).click();
  await expect.poll(() => textOf(page, "manifest.yaml").innerText()).toContain("# A comment");
});
