import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { expectAccessible } from "./expect-accessible.js";
import { PanelBrowser, signIn } from "./panel-browser.js";

// axe checks five screens in four color schemes and sizes each, for seconds at a time on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

/** Limit for the compressed scripts of the first screen. */
const firstScreenBytes = 200_000;

let daemon: TestDaemon;
let browser: PanelBrowser;

beforeAll(async () => {
  [daemon, browser] = await Promise.all([startDaemon(), PanelBrowser.open()]);
});

afterAll(async () => {
  await Promise.all([daemon.dispose(), browser.close()]);
});

test("opens the overview after sign-in and every section by its link", async () => {
  const page = await browser.page(`${daemon.url}/cpanel/`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  expect(page.url()).toBe(`${daemon.url}/cpanel/overview`);
  await expectAccessible(page);
  await signIn(page, daemon.rootKey);
  for (const title of ["Apps", "Plugins", "Keys", "Overview"]) {
    await page.getByRole("navigation").getByRole("link", { name: title, exact: true }).click();
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement?.textContent")).toBe(title);
    expect(await page.title()).toBe(`${title} · runtimed`);
    await expectAccessible(page);
  }
  expect(browser.complaints).toEqual([]);
});

test("scrolls the navigation of a narrow screen to the current section", async () => {
  const page = await browser.page(`${daemon.url}/cpanel/keys`);
  await page.setViewportSize({ width: 360, height: 740 });
  await signIn(page, daemon.rootKey);
  await page.getByRole("heading", { name: "Keys", level: 1 }).waitFor();
  const list = page.getByRole("navigation", { name: "Sections" }).getByRole("list");
  const [area, link] = [await list.boundingBox(), await list.getByRole("link", { name: "Keys", exact: true }).boundingBox()];
  expect(area && link && link.x >= area.x && link.x + link.width <= area.x + area.width).toBe(true);
});

test("loads at most 200 kB of compressed scripts for the first screen", async () => {
  const page = await browser.page(`${daemon.url}/cpanel/`);
  await signIn(page, daemon.rootKey);
  await page.getByText("per second").waitFor();
  const loaded = await page.evaluate<string[]>(
    `performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => name.endsWith(".js"))`,
  );
  const sizes = await Promise.all([...new Set(loaded)].map(async (url) => gzipSync(await (await fetch(url)).text()).length));
  expect(sizes.length).toBeGreaterThan(1);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total).toBeLessThanOrEqual(firstScreenBytes);
});
