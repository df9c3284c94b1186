import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { expectAccessible } from "./expect-accessible.js";
import { PanelBrowser, signIn } from "./panel-browser.js";

vi.setConfig({ testTimeout: 90_000 });

const app = `export default { fetch: (request, env) => new Response(env.STRIPE_KEY ?? "none") };`;

let daemon: TestDaemon;
let browser: PanelBrowser;

beforeAll(async () => {
  [daemon, browser] = await Promise.all([startDaemon(), PanelBrowser.open()]);
  await install();
});
afterAll(async () => {
  await Promise.all([daemon.dispose(), browser.close()]);
});

async function install(): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": manifestOf("@team/shop", "1.0.0"), "index.js": app });
  await connect(daemon.url, daemon.rootKey).workers.upload({ file: uploadOf("shop.tgz", archive) });
}

const served = async () => (await fetch(`${daemon.url}/@team/shop/`)).text();

test("sets and removes a secret of an app, and shows changes that other clients make", async () => {
  expect(await served()).toBe("none");
  const page = await browser.page(`${daemon.url}/cpanel/apps/@team/shop/configuration`);
  await signIn(page, daemon.rootKey);
  await page.getByText("No secrets yet").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Set a secret" }).click();
  const dialog = page.getByRole("dialog", { name: "Set a secret of @team/shop" });
  await dialog.getByLabel("Name").fill("1-stripe");
  await dialog.getByText("must be a name of at most 128 letters").waitFor();
  await dialog.getByLabel("Name").fill("STRIPE_KEY");
  await dialog.getByLabel("Value").fill("value-of-the-secret");
  expect(await dialog.getByLabel("Value").getAttribute("type")).toBe("password");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Set secret" }).click();
  await page.getByRole("rowheader", { name: "STRIPE_KEY" }).waitFor();
  // At another scroll position, the top bar or the message can cover a part of a button.
  await page.getByRole("button", { name: "Dismiss" }).click();
  await page.evaluate("scrollTo(0, 0)");
  await expectAccessible(page);
  await expect.poll(served).toBe("value-of-the-secret");
  expect(await page.content()).not.toContain("value-of-the-secret");
  const root = connect(daemon.url, daemon.rootKey);
  await root.secrets.set({ params: { scope: "@team", name: "shop", key: "OTHER" }, body: { value: "other" } });
  await page.getByRole("rowheader", { name: "OTHER" }).waitFor();
  await page.getByRole("button", { name: "Remove STRIPE_KEY" }).click();
  const confirm = page.getByRole("alertdialog", { name: "Remove STRIPE_KEY?" });
  await confirm.getByRole("textbox").fill("STRIPE_KEY");
  await confirm.getByRole("button", { name: "Remove secret" }).click();
  await page.getByRole("rowheader", { name: "STRIPE_KEY" }).waitFor({ state: "detached" });
  await expect.poll(served).toBe("none");
  expect(browser.complaints).toEqual([]);
});

test("reports before an app is deleted that its secrets are kept for the next upload", async () => {
  const root = connect(daemon.url, daemon.rootKey);
  await root.secrets.set({ params: { scope: "@team", name: "shop", key: "STRIPE_KEY" }, body: { value: "kept" } });
  const page = await browser.page(`${daemon.url}/cpanel/apps/@team/shop/deployments`);
  await signIn(page, daemon.rootKey);
  await page.getByRole("button", { name: "Delete app…" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Delete @team/shop?" });
  await dialog.getByText("The secrets of the app are kept, and the next upload with this name receives them.").waitFor();
  await dialog.getByText("runtimectl secrets remove @team/shop NAME").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("textbox").fill("@team/shop");
  await dialog.getByRole("button", { name: "Delete app" }).click();
  await page.getByText("@team/shop is deleted.").waitFor();
  await install();
  expect(await served()).toBe("kept");
  expect(browser.complaints).toEqual([]);
});
