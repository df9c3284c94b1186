import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { expectAccessible } from "./expect-accessible.js";
import { PanelBrowser, signIn } from "./panel-browser.js";

// axe checks five screens in four color schemes and sizes each, for seconds at a time on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

/** Limit for the compressed scripts of the first screen. */
const firstScreenBytes = 200_000;
/** Limit for the compressed scripts of the sign-in page. */
const signInBytes = 110_000;

let daemon: TestDaemon;
let browser: PanelBrowser;

beforeAll(async () => {
  [daemon, browser] = await Promise.all([startDaemon(), PanelBrowser.open()]);
});

afterAll(async () => {
  await Promise.all([daemon.dispose(), browser.close()]);
});

test("opens the overview after the sign-in, and every section by its link", async () => {
  const page = await browser.page(`${daemon.url}/cpanel/`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(page.url()).toBe(`${daemon.url}/cpanel/overview`);
  await expectAccessible(page);
  await signIn(page, daemon.rootKey);
  for (const title of ["Apps", "Logs", "Activity", "Plugins", "Hosts", "Keys", "Instances", "Settings", "Overview"]) {
    await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: title, exact: true }).click();
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement?.textContent")).toBe(title);
    expect(await page.title()).toBe(`${title} · runtimed`);
    await expectAccessible(page);
  }
  expect(browser.complaints).toEqual([]);
});

test("shows four sections in the bar of a narrow screen, and the others in a sheet", async () => {
  const page = await browser.page(`${daemon.url}/cpanel/overview`, { isNarrow: true });
  await signIn(page, daemon.rootKey);
  const bar = page.getByRole("navigation", { name: "Sections" });
  expect(await bar.getByRole("link").allInnerTexts()).toEqual(["Overview", "Apps", "Logs", "Activity"]);
  await bar.getByRole("button", { name: "More" }).click();
  const sheet = page.getByRole("dialog", { name: "More" });
  expect(await sheet.getByRole("link").allInnerTexts()).toEqual(["Plugins", "Hosts", "Keys", "Instances", "Settings"]);
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await sheet.getByRole("link", { name: "Keys" }).click();
  await page.getByRole("heading", { name: "Keys", level: 1 }).waitFor();
  await sheet.waitFor({ state: "hidden" });
  expect(browser.complaints).toEqual([]);
});

test("collapses the navigation to icons until the user expands it, even after a reload", async () => {
  const page = await browser.page(`${daemon.url}/cpanel/overview`);
  await signIn(page, daemon.rootKey);
  const widthOf = async () => (await page.locator(".shell-rail").boundingBox())?.width;
  expect(await widthOf()).toBe(232);
  await page.getByRole("button", { name: "Collapse navigation" }).click();
  expect(await widthOf()).toBe(56);
  await page.reload();
  await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: "Apps" }).click();
  await page.getByRole("heading", { name: "Apps", level: 1 }).waitFor();
  expect(await widthOf()).toBe(56);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Collapse navigation" }).click();
  expect(await widthOf()).toBe(232);
  expect(browser.complaints).toEqual([]);
});

const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);

/** Returns the compressed sizes of the scripts that the page has loaded. */
async function scriptSizes(page: Page): Promise<number[]> {
  const loaded = await page.evaluate<string[]>(
    `performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => name.endsWith(".js"))`,
  );
  return await Promise.all([...new Set(loaded)].map(async (url) => gzipSync(await (await fetch(url)).text()).length));
}

test("compressed scripts have at most 110 kB at sign-in, 200 kB including the overview", async () => {
  const page = await browser.page(`${daemon.url}/cpanel/`);
  await page.getByLabel("API key").waitFor();
  const before = await scriptSizes(page);
  expect(before.length).toBeGreaterThan(0);
  expect(sum(before)).toBeLessThanOrEqual(signInBytes);
  await signIn(page, daemon.rootKey);
  await page.getByText("per second", { exact: true }).waitFor();
  // The chart loads uPlot.
  await page.locator("canvas").first().waitFor();
  const first = await scriptSizes(page);
  expect(first.length).toBeGreaterThan(before.length);
  expect(sum(first)).toBeLessThanOrEqual(firstScreenBytes);
});
