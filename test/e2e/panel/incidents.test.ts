import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { packFiles } from "../../support/pack-files.js";
import { expectAccessible } from "./expect-accessible.js";
import { openPanelFixture, versionFiles, type PanelFixture } from "./panel-fixture.js";

// axe checks each state four times, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let fixture: PanelFixture;

function manifest(version: string): string {
  return `name: orders\nversion: "${version}"\n`;
}

beforeAll(async () => {
  fixture = await openPanelFixture({
    ...versionFiles("@team/blog", "1.0.0", "the blog"),
    "orders/0.9.0/manifest.yaml": manifest("0.9.0"),
    "orders/0.9.0/index.js": "export default { fetch: () => new Response('fine') };",
    "orders/1.0.0/manifest.yaml": manifest("1.0.0"),
    "orders/1.0.0/index.js": "export default { fetch() {\n  throw new Error('no such order');\n} };",
  });
  const client = connect(fixture.daemon.url, fixture.daemon.rootKey);
  const broken = { "manifest.yaml": "name: broken\nversion: 1.0.0\ndependencies: [nowhere]\n", "plugin.js": "export default {};" };
  await client.plugins.upload({ file: uploadOf("broken.tgz", await packFiles(broken)) });
  await client.keys.create({ body: { name: "ci", role: "viewer", expiresIn: "7d" } });
  for (let request = 0; request < 5; request += 1) expect((await fetch(`${fixture.daemon.url}/orders/`)).status).toBe(502);
});
afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

const incidentsIn = (page: Page) => page.getByRole("region", { name: "Needs attention" });

test("shows health changes with the new state, and shows sign-ins only under Activity", async () => {
  const page = await fixture.open("overview");
  const recent = page.getByRole("region", { name: "Recent activity" });
  const change = recent.getByRole("listitem").filter({ hasText: "orders 1.0.0" });
  await change.locator(".state-failing").first().waitFor();
  expect(await recent.getByText("session.opened").count()).toBe(0);
  await expectAccessible(page);
  await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: "Activity" }).click();
  const table = page.getByRole("table", { name: "Activity" });
  await table.getByRole("row").filter({ hasText: "worker.health" }).locator(".state-failing").first().waitFor();
  await table.getByText("session.opened").first().waitFor();
  await expectAccessible(page);
});

test("rolls an app back with one click on the overview, and Undo reverts the rollback", async () => {
  const page = await fixture.open("overview");
  const attention = incidentsIn(page);
  await attention.getByText("Error: no such order (index.js:2)").waitFor();
  await page.goto(`${fixture.daemon.url}/cpanel/apps/orders`);
  await page.locator(".button-primary", { hasText: "Roll back to 0.9.0" }).waitFor();
  expect(await page.locator("main .button-primary").count()).toBe(1);
  await expectAccessible(page);
  await page.goBack();
  await attention.getByRole("button", { name: "Roll back to 0.9.0: orders" }).click();
  await page.getByText("orders 0.9.0 is active. 1.0.0 is disabled.").waitFor();
  expect(await (await fetch(`${fixture.daemon.url}/orders/`)).text()).toBe("fine");
  await expect.poll(() => attention.getByText("no such order").count()).toBe(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect.poll(async () => (await fetch(`${fixture.daemon.url}/orders/`)).status).toBe(502);
});

test("disables a failed plugin and rotates an expiring key from the overview", async () => {
  const page = await fixture.open("overview");
  const attention = incidentsIn(page);
  await attention.getByRole("button", { name: "Disable broken" }).click();
  await page.getByText("broken is off.").waitFor();
  await expect.poll(() => attention.getByText("broken").count()).toBe(0);
  await attention.getByRole("button", { name: "Rotate ci" }).click();
  const dialog = page.getByRole("dialog", { name: "Rotate ci" });
  await expectAccessible(page);
  await dialog.getByRole("radio", { name: "Not at all" }).check({ force: true });
  await dialog.getByRole("button", { name: "Rotate key" }).click();
  const secret = page.getByRole("alertdialog", { name: "The key ci" });
  const key = await secret.getByLabel("Secret").inputValue();
  expect((await fetch(`${fixture.daemon.url}/api/workers`, { headers: { "x-api-key": key } })).status).toBe(200);
});

test("opens the menu of an app with the keyboard, and closes the menu at Escape", async () => {
  const page = await fixture.open("apps");
  const button = page.getByRole("button", { name: "Actions of orders" });
  await button.focus();
  await page.keyboard.press("Enter");
  const menu = page.getByRole("group", { name: "Actions of orders" });
  expect(await menu.getByRole("listitem").allInnerTexts()).toEqual(["Open", "Logs", "Roll back to 0.9.0", "Restart", "Disable 1.0.0"]);
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  expect(await menu.count()).toBe(0);
  expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Actions of orders");
  await button.click();
  await menu.getByRole("button", { name: "Disable 1.0.0" }).click();
  await page.getByText("orders 1.0.0 is disabled. 0.9.0 is active.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("row", { name: "orders" }).getByText("1.0.0").waitFor();
});

test("lists the isolates of an app, and stops an isolate", async () => {
  await fetch(`${fixture.daemon.url}/orders/`);
  const page = await fixture.open("apps/orders");
  const table = page.getByRole("table", { name: "Isolates of orders" });
  const pid = await table.getByRole("rowheader").first().innerText();
  await page.getByRole("button", { name: `Stop isolate ${pid}` }).click();
  await page.getByText(`Isolate ${pid} is stopped.`).waitFor();
  await expect.poll(() => table.getByRole("rowheader", { name: pid }).count()).toBe(0);
  expect((await fetch(`${fixture.daemon.url}/orders/`)).status).toBe(502);
});

test("hides other namespaces' apps and the daemon history from a key of one namespace", async () => {
  const key = await fixture.key({ role: "editor", namespaces: ["@team"] });
  const page = await fixture.open("overview", { key });
  await page.getByText("The only app has no problem").waitFor();
  await page.getByText("The history of the daemon includes all namespaces.").waitFor();
  expect(await incidentsIn(page).count()).toBe(0);
  expect(await page.getByText("orders").count()).toBe(0);
  expect(await page.getByRole("group", { name: "Period" }).count()).toBe(0);
  await page.getByText("The audit log needs the permission").waitFor();
  await expectAccessible(page);
});
