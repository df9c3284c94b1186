import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { packPlugin } from "./board-plugin.js";
import { expectAccessible } from "./expect-accessible.js";
import { openPanelFixture, type PanelFixture } from "./panel-fixture.js";

// axe checks each state four times, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let fixture: PanelFixture;

beforeAll(async () => {
  fixture = await openPanelFixture({});
  const { plugins } = connect(fixture.daemon.url, fixture.daemon.rootKey);
  await plugins.upload({ file: uploadOf("basis.tgz", await packPlugin("name: basis\nversion: 1.0.0\n")) });
});

afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

const overlay = () => readFile(path.join(fixture.daemon.directory, "plugins/plugin-gateway/manifest.yaml"), "utf8");

test("shows sources of variables, free space of directories and the isolation layers", async () => {
  const page = await fixture.open("settings");
  const variables = page.getByRole("table", { name: "Variables" });
  const rootKey = variables
    .getByRole("row")
    .filter({ hasText: "RUNTIME_ROOT_KEY The root key" })
    .or(variables.getByRole("row", { name: /^RUNTIME_ROOT_KEY / }));
  await rootKey.first().getByText("•••••••• (secret)").waitFor();
  expect(await page.content()).not.toContain(fixture.daemon.rootKey);
  await page
    .getByRole("table", { name: "Directories" })
    .getByText(/ of .* %\)/)
    .first()
    .waitFor();
  await page
    .getByRole("table", { name: "Isolation layers" })
    .getByText(/active$/)
    .first()
    .waitFor();
  await page
    .getByText(process.version.split(".")[0] ?? "")
    .first()
    .waitFor();
  await expectAccessible(page);
  await page.getByLabel("Search by name or description").fill("POOL_SIZE");
  await expect.poll(() => variables.getByRole("rowheader").count()).toBe(1);
  await page.getByLabel("Source").selectOption("environment");
  await page.getByText("No variable matches").waitFor();
  expect(page.url()).toContain("source=environment");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await rootKey.first().waitFor();
});

test("shows the permission that the settings require", async () => {
  const page = await fixture.open("settings", { key: await fixture.key({ role: "viewer" }) });
  await page.getByText("settings:read").waitFor();
  expect(await page.getByRole("table").count()).toBe(0);
  await expectAccessible(page);
});

test("saves and reverts a rate limit of the gateway in the form, and shows errors", async () => {
  const page = await fixture.open("plugins/plugin-gateway", { provoked: [400] });
  await page.getByRole("button", { name: "Add to rateLimits" }).click();
  const rule = page.getByRole("group", { name: "rateLimits 1" });
  await rule.getByLabel("limit").fill("5");
  await rule.getByLabel("window").fill("1 fortnight");
  await page.getByRole("button", { name: "Save settings" }).click();
  await page
    .getByRole("group", { name: "rateLimits", exact: true })
    .getByText(/fortnight/)
    .waitFor();
  await expect(overlay()).rejects.toThrow("ENOENT");
  await expectAccessible(page);
  await rule.getByLabel("window").fill("1m");
  await rule.getByRole("button", { name: "Add to paths" }).click();
  await rule.getByRole("textbox", { name: "paths 1" }).fill("/shop/**");
  await page.getByRole("combobox", { name: "securityHeaders" }).selectOption({ label: "on, with own settings" });
  await page.getByRole("combobox", { name: "frameOptions" }).selectOption("DENY");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save settings" }).click();
  await page.getByText("rateLimits, securityHeaders of plugin-gateway is saved.").waitFor();
  expect(await overlay()).toMatch(/limit: 5\s+window: 1m\s+paths:\s+- \/shop\/\*\*/);
  expect(await overlay()).toMatch(/securityHeaders:\s+frameOptions: DENY/);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("rateLimits, securityHeaders of plugin-gateway is as before.").waitFor();
  expect(await overlay()).not.toContain("rateLimits");
  await page.getByRole("group", { name: "rateLimits 1" }).waitFor({ state: "detached" });
});

test("edits plugin settings as YAML, and shows them read-only without plugins:config", async () => {
  const page = await fixture.open("plugins/plugin-gateway");
  await page.getByRole("button", { name: "Edit as YAML" }).click();
  const editor = page.getByLabel("Text of the manifest");
  await editor.fill("name: plugin-gateway\nrateLimitHeaders: true\n");
  await page.getByRole("button", { name: "Save manifest" }).click();
  await page.getByText("manifest.yaml of plugin-gateway is saved.").waitFor();
  expect(await overlay()).toContain("rateLimitHeaders: true");
  const viewer = await fixture.open("plugins/plugin-gateway", { key: await fixture.key({ role: "viewer" }) });
  await viewer.getByText("plugins:config").waitFor();
  await viewer.getByRole("table", { name: "Settings" }).getByText("rateLimitHeaders").waitFor();
  expect(await viewer.getByRole("button", { name: /^(Edit|Save|Add)/ }).count()).toBe(0);
  await expectAccessible(viewer);
});
