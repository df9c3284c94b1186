import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { expectAccessible } from "./expect-accessible.js";
import { openPanelFixture, versionFiles as files, type PanelFixture } from "./panel-fixture.js";

vi.setConfig({ testTimeout: 90_000 });

let fixture: PanelFixture;

beforeAll(async () => {
  fixture = await openPanelFixture({ ...files("shop", "1.0.0", "shop"), ...files("blog", "1.0.0", "blog") });
});

afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

const statusOf = async (name: string) => (await fetch(`${fixture.daemon.url}/${name}/`)).status;
const isStored = (name: string) => existsSync(path.join(fixture.daemon.directory, "workers", name));

test("confirms a deletion with Enter only when the typed name matches", async () => {
  const page = await fixture.open("apps/shop/deployments");
  await page.getByRole("button", { name: "Delete app…" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Delete shop?" });
  await dialog.getByLabel("Type shop to confirm").waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.type("sho");
  await page.keyboard.press("Enter");
  expect(await dialog.isVisible()).toBe(true);
  expect(isStored("shop")).toBe(true);
  await page.keyboard.type("p");
  await page.keyboard.press("Enter");
  await page.getByText("shop is deleted.").waitFor();
  await dialog.waitFor({ state: "hidden" });
  expect(isStored("shop")).toBe(false);
});

test("asks before it disables the only enabled version, and Undo enables the version", async () => {
  const page = await fixture.open("apps/blog/deployments");
  const dialog = page.getByRole("alertdialog", { name: "Disable blog 1.0.0?" });
  const text = dialog.getByText("It is the only enabled version. /blog/ then responds with 404.");
  await page.getByRole("button", { name: "Disable blog 1.0.0" }).click();
  await text.waitFor();
  await expectAccessible(page);
  // Cancel has the focus.
  await page.keyboard.press("Enter");
  await dialog.waitFor({ state: "hidden" });
  expect(await statusOf("blog")).toBe(200);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Go to app, run action" }).waitFor();
  await page.keyboard.type("blog: disable 1.0.0");
  await page.keyboard.press("Enter");
  await text.waitFor();
  expect(await statusOf("blog")).toBe(200);
  await dialog.getByRole("button", { name: "Disable version" }).click();
  await page.getByText("blog 1.0.0 is disabled. No version is active.").waitFor();
  expect(await statusOf("blog")).toBe(404);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect.poll(() => statusOf("blog")).toBe(200);
});

test("closes a confirmation at Escape, changes nothing and restores the focus", async () => {
  const page = await fixture.open("apps/blog/deployments");
  await page.getByRole("button", { name: "Delete app…" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Delete blog?" });
  await dialog.getByLabel("Type blog to confirm").fill("blog");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  expect(isStored("blog")).toBe(true);
  await expect.poll(() => page.locator(":focus").textContent()).toBe("Delete app…");
});
