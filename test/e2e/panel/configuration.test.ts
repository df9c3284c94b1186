import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { packFiles } from "../../support/pack-files.js";
import { expectAccessible } from "./expect-accessible.js";
import { openPanelFixture, type PanelFixture } from "./panel-fixture.js";

// axe checks each state four times, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

const manifest = `# The shop of the team.
name: shop
version: 1.0.0
memory: 4gb # for the import
timeout: 5s
env:
  GREETING: hello from the shop
hosts: [shop.example.org]
`;
const code = "export default { fetch: (request, env) => new Response(env.GREETING ?? 'none') };\n";

let fixture: PanelFixture;

beforeAll(async () => {
  fixture = await openPanelFixture({});
  const archive = await packFiles({ "manifest.yaml": manifest, "index.js": code });
  const { workers } = connect(fixture.daemon.url, fixture.daemon.rootKey);
  await workers.upload({ file: uploadOf("shop.tgz", archive), query: {} });
  const older = await packFiles({ "manifest.yaml": "name: two\nversion: 1.0.0\n", "index.js": code });
  await workers.upload({ file: uploadOf("two.tgz", older), query: {} });
  const newer = await packFiles({ "manifest.yaml": "name: two\nversion: 1.1.0\ntimeout: 9s\n", "index.js": code });
  await workers.upload({ file: uploadOf("two.tgz", newer), query: {} });
});

afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

const file = () => path.join(fixture.daemon.directory, "workers/shop/1.0.0/manifest.yaml");
const text = () => readFile(file(), "utf8");
const rowOf = (page: Page, field: string) =>
  page.getByRole("row").filter({ has: page.getByRole("button", { name: `Edit ${field}`, exact: true }) });

test("shows each field with its value, its source and the daemon's limit", async () => {
  const page = await fixture.open("apps/shop/configuration");
  const memory = rowOf(page, "memory");
  await memory.getByText("RUNTIME_WORKER_MEMORY_MAX").waitFor();
  expect(await memory.getByRole("cell").nth(1).innerText()).toBe("limit");
  expect(await rowOf(page, "timeout").getByRole("cell").nth(1).innerText()).toBe("manifest");
  expect(await rowOf(page, "ttl").getByRole("cell").nth(1).innerText()).toBe("default");
  expect(await memory.getByRole("cell").nth(2).innerText()).toBe("1gb");
  await page.getByRole("heading", { name: "Hosts" }).waitFor();
  await page.getByRole("button", { name: "Add shop.example.org" }).waitFor();
  await expectAccessible(page);
});

test("shows the version selector and the button `Edit as YAML` on one line", async () => {
  const page = await fixture.open("apps/two/configuration");
  await rowOf(page, "timeout").getByText("9s").waitFor();
  const topOf = async (name: string) => (await page.getByText(name, { exact: true }).boundingBox())?.y ?? 0;
  expect(Math.abs((await topOf("Version")) - (await topOf("Edit as YAML")))).toBeLessThan(16);
  await page.getByRole("button", { name: "Edit as YAML" }).click();
  await page.getByRole("button", { name: "Edit as YAML" }).waitFor({ state: "hidden" });
  await page.getByLabel("Version").selectOption("1.0.0");
  await page.getByRole("button", { name: "Edit as YAML" }).waitFor();
  await expectAccessible(page);
});

test("saves a field after its invalid value is corrected in the form", async () => {
  const page = await fixture.open("apps/shop/configuration", { provoked: [400] });
  await page.getByRole("button", { name: "Edit timeout", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Edit timeout" });
  await dialog.getByLabel("timeout").fill("soon");
  await dialog.getByRole("button", { name: "Save timeout" }).click();
  await dialog.locator(".field-error").getByText("is not a duration").waitFor();
  await dialog.getByText("INVALID_PACKAGE_METADATA").waitFor();
  expect(await text()).toBe(manifest);
  await expectAccessible(page);
  await dialog.getByLabel("timeout").fill("7s");
  await dialog.getByRole("button", { name: "Save timeout" }).click();
  await page.getByText("timeout of shop 1.0.0 is saved.").waitFor();
  await rowOf(page, "timeout").getByText("7s").waitFor();
  expect(await text()).toBe(manifest.replace("5s", "7s"));
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("timeout of shop 1.0.0 is as before.").waitFor();
  await rowOf(page, "timeout").getByText("5s").waitFor();
  expect(await text()).toBe(manifest);
});

test("does not overwrite a change of another client", async () => {
  const page = await fixture.open("apps/shop/configuration", { provoked: [412] });
  await page.getByRole("button", { name: "Edit maxRequests" }).click();
  await writeFile(file(), `${manifest}accessLog: false\n`);
  await page.getByRole("dialog").getByLabel("maxRequests").fill("9");
  await page.getByRole("button", { name: "Save maxRequests" }).click();
  await page.getByText("PRECONDITION_FAILED").waitFor();
  expect(await text()).toBe(`${manifest}accessLog: false\n`);
  await writeFile(file(), manifest);
});

test("hides variables until the user shows them, and adds and removes variables", async () => {
  const page = await fixture.open("apps/shop/configuration");
  await page.getByRole("button", { name: "Show the value of GREETING" }).waitFor();
  expect(await page.content()).not.toContain("hello from");
  await page.getByRole("button", { name: "Show the value of GREETING" }).click();
  await page.getByText("hello from the shop").waitFor();
  await page.getByRole("button", { name: "Add a variable" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a variable" });
  await dialog.getByLabel("Name").fill("COLOR");
  await dialog.getByLabel("Value").fill("green");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Save variable" }).click();
  await page.getByRole("button", { name: "Remove COLOR" }).waitFor();
  expect(await text()).toContain("COLOR: green");
  await page.getByRole("button", { name: "Remove COLOR" }).click();
  await page.getByRole("button", { name: "Remove COLOR" }).waitFor({ state: "detached" });
  expect(await text()).toBe(manifest);
});

test("saves the manifest as YAML, and shows the line of an error", async () => {
  const page = await fixture.open("apps/shop/configuration", { provoked: [400] });
  await page.getByRole("button", { name: "Edit as YAML" }).click();
  const editor = page.getByRole("textbox", { name: "Text of the manifest" });
  await editor.waitFor();
  expect((await page.locator(".cm-line").allTextContents()).join("\n")).toBe(manifest);
  await editor.fill(`${manifest}memry: 1gb\n`);
  await page.getByRole("button", { name: "Save manifest" }).click();
  await page
    .getByRole("alert")
    .getByText(/memry.*line 9/)
    .waitFor();
  expect(await page.locator(".cm-faultyLine").allInnerTexts()).toEqual(["memry: 1gb"]);
  await expectAccessible(page);
  await page.getByRole("navigation", { name: "Pages of shop" }).getByRole("link", { name: "Logs" }).click();
  await page.getByRole("alertdialog", { name: "The manifest is not saved" }).waitFor();
  await page.getByRole("button", { name: "Keep editing" }).click();
  await editor.fill(manifest.replace("hello from the shop", "good day"));
  await page.getByRole("button", { name: "Save manifest" }).click();
  await page.getByText("manifest.yaml of shop 1.0.0 is saved.").waitFor();
  await expect.poll(async () => (await fetch(`${fixture.daemon.url}/shop/`)).text()).toBe("good day");
});

test("shows no edit buttons to a key without workers:install", async () => {
  const page = await fixture.open("apps/shop/configuration", { key: await fixture.key({ role: "viewer" }) });
  await page.getByText("Read-only: to change the configuration").waitFor();
  await page.getByText("hidden: needs workers:install").waitFor();
  expect(await page.getByRole("button", { name: /^(Edit|Add|Remove|Save|Show)/ }).count()).toBe(0);
  await expectAccessible(page);
  await page.goto(`${fixture.daemon.url}/cpanel/apps/cpanel/configuration`);
  await page.getByText("Read-only: this version is part of the daemon").waitFor();
});
