import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { packFiles } from "../../support/pack-files.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { dropPaths } from "./drop-paths.js";
import { expectAccessible } from "./expect-accessible.js";
import { openPanelFixture, versionFiles, type PanelFixture } from "./panel-fixture.js";

// axe checks each state four times, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let fixture: PanelFixture;

beforeAll(async () => {
  fixture = await openPanelFixture({ ...versionFiles("shop", "1.0.0", "the shop"), ...versionFiles("@team/blog", "2.0.0", "the blog") });
});

afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

async function archive(content: Record<string, string>): Promise<string> {
  const file = path.join(await temporaryDirectory(), "package.tgz");
  await writeFile(file, await packFiles(content));
  return file;
}

const menuOf = (page: Page) => page.getByRole("dialog", { name: "Command menu" });

test("opens an app with Ctrl+K and the keyboard alone", async () => {
  const page = await fixture.open("overview");
  await page.keyboard.press("Control+k");
  const menu = menuOf(page);
  await menu.getByRole("option", { name: "Overview" }).waitFor();
  await expectAccessible(page);
  await page.keyboard.type("blog");
  await menu.getByRole("option", { name: "@team/blog: logs" }).waitFor();
  expect(await menu.getByRole("option", { selected: true }).innerText()).toContain("@team/blog");
  await page.keyboard.press("ArrowDown");
  expect(await menu.getByRole("option", { selected: true }).innerText()).toContain("@team/blog: logs");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "@team/blog", level: 1 }).waitFor();
  expect(page.url()).toBe(`${fixture.daemon.url}/cpanel/apps/@team/blog/logs`);
  const crumbs = page.getByRole("navigation", { name: "Breadcrumb" });
  expect(await crumbs.getByRole("listitem").allInnerTexts()).toEqual(["Apps", "@team/blog", "Logs"]);
  await expect.poll(() => page.evaluate("document.activeElement?.textContent")).toBe("@team/blog");
});

test("runs an action of the command menu, and closes the menu at Escape", async () => {
  const page = await fixture.open("keys");
  await page.getByRole("button", { name: /Command menu/ }).click();
  const menu = menuOf(page);
  await menu.getByRole("combobox").fill("dark");
  await page.keyboard.press("Enter");
  await menu.waitFor({ state: "hidden" });
  await expect.poll(() => page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
  await page.keyboard.press("Control+k");
  await menu.getByRole("combobox").fill("no such thing");
  await menu.getByText("Nothing matches.").waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await menu.waitFor({ state: "hidden" });
});

test("the command menu offers only permitted actions of an app, and shows their errors", async () => {
  const actionsOf = async (page: Page) => {
    await page.keyboard.press("Control+k");
    await menuOf(page).getByRole("combobox").fill("shop:");
    await menuOf(page).getByRole("option", { name: "shop: logs" }).waitFor();
    return menuOf(page).getByRole("option").allInnerTexts();
  };
  const viewer = await fixture.open("overview", { key: await fixture.key({ role: "viewer" }) });
  expect((await actionsOf(viewer)).map((text) => text.split("\n")[0])).toEqual(["shop: logs", "shop: files", "shop: open in a new tab"]);
  const page = await fixture.open("overview", { provoked: [404] });
  expect((await actionsOf(page)).join()).toContain("shop: disable 1.0.0");
  await page.route("**/restart", (route) =>
    route.fulfill({ status: 404, json: { error: { code: "WORKER_NOT_FOUND", message: "shop was deleted." } } }),
  );
  await menuOf(page).getByRole("option", { name: "shop: restart" }).click();
  await page.getByText("shop was deleted.").waitFor();
});

test("shows role, expiry and theme in the account menu, and closes the menu at Escape", async () => {
  const page = await fixture.open("overview", { key: await fixture.key({ role: "editor", namespaces: ["@team"] }) });
  await page.getByRole("button", { name: "Account somebody" }).click();
  const menu = page.getByRole("group", { name: "Account somebody" });
  await menu.getByText("editor · @team only").waitFor();
  await menu.getByText(/The key ends on/).waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  expect(await menu.count()).toBe(0);
  expect(await page.evaluate('document.activeElement?.getAttribute("aria-label")')).toBe("Account somebody");
});

test("installs an app that the user drops on a page without apps", async () => {
  const page = await fixture.open("keys");
  await page.getByRole("table", { name: "Keys" }).or(page.getByText("No key")).first().waitFor();
  await dropPaths(page, [await archive({ "manifest.yaml": 'name: dropped\nversion: "1.0.0"\n', "index.html": "dropped" })]);
  const dialog = page.getByRole("dialog", { name: "Upload dropped 1.0.0?" });
  await dialog.getByText("A new app at /dropped/").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Upload" }).click();
  await page.getByRole("dialog", { name: "dropped 1.0.0 is installed" }).waitFor();
  expect(await (await fetch(`${fixture.daemon.url}/dropped/`)).text()).toContain("dropped");
});

test("detects that a dropped package is a plugin, and shows the missing permission", async () => {
  const plugin = { "manifest.yaml": 'name: noted\nversion: "1.0.0"\nbase: /noted\n', "plugin.js": "export default {};" };
  const page = await fixture.open("activity");
  await page.getByRole("heading", { name: "Activity", level: 1 }).waitFor();
  await dropPaths(page, [await archive(plugin)]);
  await page.getByRole("dialog", { name: "Upload noted 1.0.0?" }).getByText("A new plugin noted").waitFor();
  const own = { role: "custom", permissions: ["workers:read", "workers:install"] };
  const other = await fixture.open("settings", { key: await fixture.key(own) });
  await other.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  await dropPaths(other, [await archive(plugin)]);
  await other.getByRole("dialog", { name: "This key may not install plugins" }).getByText("plugins:install").waitFor();
  await expectAccessible(other);
  expect(await fixture.ask("/api/plugins")).not.toContainEqual(expect.objectContaining({ name: "noted" }));
});

test("filters the activity list by outcome and text, updates the list and exports it", async () => {
  const guest = await fixture.key({ role: "viewer", name: "guest" });
  await fetch(`${fixture.daemon.url}/api/keys`, {
    method: "POST",
    headers: { "x-api-key": guest, "content-type": "application/json" },
    body: "{}",
  });
  const page = await fixture.open("activity");
  const table = page.getByRole("table", { name: "Activity" });
  await table.getByText("key.created").first().waitFor();
  await expectAccessible(page);
  await page.getByLabel("Outcome").selectOption("refused");
  await expect.poll(() => page.url()).toContain("outcome=refused");
  await table.getByText("PERMISSION_DENIED").waitFor();
  expect(await table.getByRole("row").count()).toBe(2);
  await page.getByLabel("Outcome").selectOption("");
  await page.getByLabel("Search in all columns").fill("latecomer");
  await page.getByText("No entry matches").waitFor();
  await expectAccessible(page);
  await fixture.key({ role: "viewer", name: "latecomer" });
  await table.getByRole("cell", { name: "latecomer" }).waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export JSONL" }).click()]);
  expect(download.suggestedFilename()).toBe("activity.jsonl");
  const lines = (await readFile(await download.path(), "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([{ action: "key.created", subject: { name: "latecomer" } }]);
});

test("shows events, but no audit entries, to a key without audit permission", async () => {
  const page = await fixture.open("activity", { key: await fixture.key({ role: "viewer" }) });
  await page.getByText("Events only: the audit log needs the permission audit:read").waitFor();
  await page.getByRole("table", { name: "Activity" }).getByText("worker.answering").first().waitFor();
  expect(await page.getByRole("columnheader", { name: "Address" }).count()).toBe(0);
  await expectAccessible(page);
});

test("draws the traffic as a chart with a legend, and lists the values in a table", async () => {
  const page = await fixture.open("overview");
  const chart = page.getByRole("region", { name: "Requests per second" });
  await chart.locator("canvas").waitFor();
  await chart.getByText(/^at \d+ \w+, \d\d:\d\d:\d\d$/).waitFor();
  await chart.getByText("Table of requests per second").click();
  await expect.poll(() => chart.getByRole("row").count()).toBeGreaterThan(2);
  await expectAccessible(page);
});
