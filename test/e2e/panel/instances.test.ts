import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestInstance } from "../../support/start-instances.js";
import { clusterTestMs, soonMs } from "../../support/start-oci-instances.js";
import { startSyncedInstances, type SyncedInstances } from "../../support/start-synced-instances.js";
import { uploadWorker } from "../../support/upload-worker.js";
import { expectAccessible } from "./expect-accessible.js";
import { PanelBrowser, signIn } from "./panel-browser.js";

let instances: SyncedInstances;
let browser: PanelBrowser;
let a: TestInstance;
let b: TestInstance;

beforeAll(async () => {
  [instances, browser] = await Promise.all([startSyncedInstances(), PanelBrowser.open()]);
  [a, b] = await Promise.all([instances.start("eu-1"), instances.start("eu-2")]);
});
afterAll(async () => {
  await browser.close();
  await instances.dispose();
});

const readiness = async () => (await fetch(`${b.url}/api/health/ready`)).status;

async function open(path: string, key = a.rootKey): Promise<Page> {
  const page = await browser.page(`${a.url}/cpanel/${path}`);
  await signIn(page, key);
  return page;
}

test(
  "lists the instances, drains one after its name is typed, and ends the drain",
  async () => {
    const page = await open("instances");
    const row = page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: "eu-2" }) });
    await row.getByText("ready").waitFor({ timeout: soonMs });
    await page.getByText("2 of 2 instances ready").waitFor();
    expect(await row.innerText()).toContain(new URL(b.url).host);
    await page.getByRole("rowheader", { name: "eu-1 this daemon" }).waitFor();
    await expectAccessible(page);

    await page.getByRole("button", { name: "Drain eu-2" }).click();
    const dialog = page.getByRole("alertdialog", { name: "Drain eu-2?" });
    await expectAccessible(page);
    await dialog.getByRole("textbox").fill("eu-");
    expect(await dialog.getByRole("button", { name: "Drain instance" }).isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill("eu-2");
    await dialog.getByRole("button", { name: "Drain instance" }).click();
    await page.getByText("eu-2 reports that it is not ready, and still serves.").waitFor();
    await row.getByText("draining").waitFor({ timeout: soonMs });
    expect(await readiness()).toBe(503);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("The drain of eu-2 has ended.").waitFor();
    await row.getByText("ready").waitFor({ timeout: soonMs });
    expect(await readiness()).toBe(200);

    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to app, run action" }).fill("eu-2: drain");
    await page.keyboard.press("Enter");
    await dialog.getByRole("textbox").fill("eu-2");
    await page.keyboard.press("Enter");
    await expect.poll(readiness, { timeout: soonMs }).toBe(503);
    await page.getByRole("button", { name: "End drain eu-2" }).click({ timeout: soonMs });
    await expect.poll(readiness, { timeout: soonMs }).toBe(200);
    await page.context().close();
  },
  clusterTestMs,
);

test(
  "hides the addresses and actions of instances from a key for one namespace",
  async () => {
    const { data } = await a.client.keys.create({ body: { name: "team", role: "admin", namespaces: ["@team"] } });
    const page = await open("instances", data.key);
    await page.getByRole("rowheader", { name: "eu-2" }).waitFor();
    expect(await page.getByRole("button", { name: "Drain eu-2" }).count()).toBe(0);
    expect(await page.getByText(new URL(b.url).host).count()).toBe(0);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to app, run action" }).fill("eu-2: drain");
    await page.getByText("Nothing matches.").waitFor();
    await page.context().close();
  },
  clusterTestMs,
);

test(
  "reports an unreachable instance on the overview, with a link to the instances",
  async () => {
    const silent = await instances.start("eu-3", { RUNTIME_INSTANCE_URL: "" });
    const page = await open("overview");
    const attention = page.getByRole("region", { name: "Needs attention" });
    await attention.getByText("1 of 3 instances is unreachable").waitFor({ timeout: soonMs });
    await page.getByText("The values of eu-3 are missing.").waitFor();
    await attention.getByText(/^eu-3: .*RUNTIME_INSTANCE_URL/).waitFor();
    await expectAccessible(page);
    await attention.getByRole("link", { name: "Show instances" }).click();
    await page.getByRole("cell", { name: "unreachable" }).waitFor();
    await page.getByRole("cell", { name: "RUNTIME_INSTANCE_URL" }).waitFor();
    await page.getByText("2 of 3 instances ready").waitFor();
    await expectAccessible(page);
    await page.getByLabel("State").selectOption("unreachable");
    expect(page.url()).toContain("instances?state=unreachable");
    expect(await page.getByRole("rowheader").allInnerTexts()).toEqual(["eu-3"]);
    await silent.stop();
    await page.getByLabel("State").selectOption("gone");
    await page.getByRole("rowheader", { name: "eu-3" }).waitFor({ timeout: soonMs });
    await page.context().close();
  },
  clusterTestMs,
);

test(
  "filters logs and activity by instance, and names instances with missing lines",
  async () => {
    const code = "export default { fetch(request) { console.log(new URL(request.url).pathname); return new Response('ok'); } };";
    for (const { client } of [a, b]) await uploadWorker(client, "shop", { "index.js": code });
    for (const { url } of [a, b]) await fetch(`${url}/shop/order-of-${url === a.url ? "eu-1" : "eu-2"}`);
    const page = await open("apps/shop/logs");
    const log = page.getByRole("region", { name: "Log of shop" });
    const line = (instance: string) => log.locator(".log-line", { hasText: `order-of-${instance}` }).filter({ hasText: "info" });
    for (const name of ["eu-1", "eu-2"]) await line(name).first().locator(".log-instance", { hasText: name }).waitFor({ timeout: soonMs });
    await expectAccessible(page);
    await page.getByLabel("Instance").selectOption("eu-2");
    await expect.poll(() => line("eu-1").count(), { timeout: soonMs }).toBe(0);
    await line("eu-2").first().waitFor();
    expect(page.url()).toContain("instance=eu-2");
    expect(await log.locator(".log-instance").count()).toBe(0);

    await page.goto(`${a.url}/cpanel/activity`);
    const table = page.getByRole("table", { name: "Activity" });
    const installed = table.getByRole("row").filter({ hasText: "worker.installed" });
    for (const name of ["eu-1", "eu-2"]) await installed.filter({ hasText: name }).first().waitFor({ timeout: soonMs });
    await page.getByLabel("Instance").selectOption("eu-2");
    await expect.poll(() => installed.filter({ hasText: "eu-1" }).count()).toBe(0);
    await expectAccessible(page);

    await instances.start("eu-0", { RUNTIME_INSTANCE_URL: "" });
    await page.goto(`${a.url}/cpanel/logs`);
    await page.getByText("The lines of eu-0 are missing.").waitFor({ timeout: soonMs });
    await expectAccessible(page);
    await page.getByLabel("Instance").selectOption("eu-2");
    await page.getByText("The lines of eu-0 are missing.").waitFor({ state: "hidden" });
    await page.context().close();
    expect(browser.complaints).toEqual([]);
  },
  clusterTestMs,
);
