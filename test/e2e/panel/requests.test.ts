import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPanelHouse, versionFiles, type PanelHouse } from "./panel-house.js";

let house: PanelHouse;

beforeAll(async () => {
  house = await openPanelHouse(versionFiles("shop", "1.0.0", "the shop"));
});
afterAll(() => house.dispose());

/** The paths that a page without any file of the panel asks for until `isShown` resolves. */
async function requestsOf(page: Page, isShown: () => Promise<unknown>): Promise<string[]> {
  await (await page.context().newCDPSession(page)).send("Network.setCacheDisabled", { cacheDisabled: true });
  const paths: string[] = [];
  page.on("request", (request) => paths.push(new URL(request.url()).pathname));
  await page.goto(`${house.daemon.url}/cpanel/`);
  await isShown();
  return paths;
}

test("makes at most 8 requests at the sign-in page", async () => {
  const page = await house.browser.page(`${house.daemon.url}/cpanel/`);
  const paths = await requestsOf(page, () => page.getByLabel("API key").waitFor());
  expect(paths).toContain("/.well-known/runtime");
  expect(paths.length).toBeLessThanOrEqual(8);
});

test("asks for the page, two scripts, one style sheet and the icon at the overview", async () => {
  const page = await house.open("overview");
  const paths = await requestsOf(page, () => page.getByText(/since the start/).waitFor());
  const files = paths.filter((path) => path.startsWith("/cpanel/"));
  expect(files.map((path) => path.slice(path.lastIndexOf(".") + 1))).toEqual(["/cpanel/", "js", "js", "css", "svg"]);
});
