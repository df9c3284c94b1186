import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPanelFixture, versionFiles, type PanelFixture } from "./panel-fixture.js";

let fixture: PanelFixture;

beforeAll(async () => {
  fixture = await openPanelFixture(versionFiles("shop", "1.0.0", "the shop"));
});
afterAll(() => fixture.dispose());

/** Loads the panel without a cache until `isShown` resolves; returns the requested paths and the bytes received. */
async function loadOf(page: Page, isShown: () => Promise<unknown>): Promise<{ paths: string[]; bytes: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  const paths: string[] = [];
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  page.on("request", (request) => paths.push(new URL(request.url()).pathname));
  await page.goto(`${fixture.daemon.url}/cpanel/`);
  await isShown();
  return { paths, bytes };
}

test("loads the sign-in page with at most 8 requests and 150 KB", async () => {
  const page = await fixture.browser.page(`${fixture.daemon.url}/cpanel/`);
  // A typeface of the first load that arrives late would count twice.
  await page.getByLabel("API key").waitFor();
  await page.evaluate("document.fonts.ready.then(() => undefined)");
  const { paths, bytes } = await loadOf(page, () => page.getByLabel("API key").waitFor());
  expect(paths).toContain("/.well-known/runtime");
  expect(paths.length).toBeLessThanOrEqual(8);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThanOrEqual(150 * 1024);
});

test("loads the overview with at most 8 files, including the icon and the typeface", async () => {
  const page = await fixture.open("overview");
  // The chart loads its library as soon as the history has a value, which takes up to 20 s after the start.
  await page.locator("canvas").first().waitFor({ timeout: 60_000 });
  const { paths } = await loadOf(page, () => page.locator("canvas").first().waitFor());
  const files = paths.filter((path) => path.startsWith("/cpanel/"));
  const kinds = files.map((path) => path.slice(path.lastIndexOf(".") + 1)).toSorted();
  expect(kinds).toEqual(["/cpanel/", "css", "css", "js", "js", "js", "svg", "woff2"]);
}, 90_000);
