import { hostname } from "node:os";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { packFiles } from "../../support/pack-files.js";
import { expectAccessible } from "./expect-accessible.js";
import { narrow } from "./panel-browser.js";
import { openPanelFixture, type PanelFixture } from "./panel-fixture.js";

vi.setConfig({ testTimeout: 90_000 });

let fixture: PanelFixture;
let page: Page;

beforeAll(async () => {
  fixture = await openPanelFixture({
    "storefront-checkout/1.0.0/manifest.yaml": "name: storefront-checkout\nversion: 1.0.0\nhosts: [checkout.example.org]\n",
    "storefront-checkout/1.0.0/index.js": "export default { fetch: () => new Response('hello') };",
    "storefront-checkout/1.0.0/product-list.txt": "products",
  });
  const plugin = { "manifest.yaml": "name: request-counter\nversion: 1.0.0\n", "plugin.js": "export default {};" };
  await connect(fixture.daemon.url, fixture.daemon.rootKey).plugins.upload({ file: uploadOf("plugin.tgz", await packFiles(plugin)) });
  for (let request = 0; request < 30; request += 1) await fetch(`${fixture.daemon.url}/storefront-checkout/`);
  page = await fixture.open("apps");
  await page.setViewportSize(narrow);
});
afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

const goTo = (path: string) => page.goto(`${fixture.daemon.url}/cpanel/${path}`);

/** Runs in the page: returns the words of the table that the browser breaks or cuts. */
const brokenWords = `(() => {
  const broken = [];
  const walker = document.createTreeWalker(document.querySelector("table"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.checkVisibility() || node.parentElement.closest(".visually-hidden")) continue;
    const cell = node.parentElement.closest("th, td").getBoundingClientRect();
    for (const { index, 0: word } of node.textContent.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const { height, right } = range.getBoundingClientRect();
      if (height > 24 || right > cell.right + 1) broken.push(word);
    }
  }
  return broken;
})()`;

test("in a narrow window, shows 8 log lines, and hides some filters behind a button", async () => {
  await goTo("logs");
  const log = page.getByRole("region", { name: "Log of all apps" });
  await log.getByText("GET /storefront-checkout/").last().waitFor();
  const shownLines = `(() => {
    const box = document.querySelector(".log-box").getBoundingClientRect();
    const end = Math.min(box.bottom, document.querySelector(".shell-rail").getBoundingClientRect().top);
    return [...document.querySelectorAll(".log-line")].filter((line) => {
      const { top, bottom } = line.getBoundingClientRect();
      return top >= box.top - 1 && bottom <= end + 1;
    }).length;
  })()`;
  await expect.poll(() => page.evaluate(shownLines)).toBeGreaterThanOrEqual(8);
  const level = page.getByLabel("Level");
  expect(await level.isVisible()).toBe(false);
  await page.getByRole("button", { name: "Filters" }).press("Enter");
  await level.selectOption("info");
  await page.getByRole("button", { name: "Filters (1)" }).waitFor();
  await expectAccessible(page);
  await page.setViewportSize(narrow);
  await page.getByRole("button", { name: "Filters (1)" }).click();
  expect(await level.isVisible()).toBe(false);
});

test.each([
  ["apps", "storefront-checkout", "Restart"],
  ["hosts", "checkout.example.org", "Add"],
  ["plugins", "request-counter", "Delete"],
  ["instances", hostname(), "Drain"],
  ["apps/storefront-checkout/files?path=workers/storefront-checkout/1.0.0", "product-list.txt", "Rename"],
])("in a narrow window, breaks no word in the table of %s, and has a menu per row", async (path, name, action) => {
  await goTo(path);
  await page.getByRole("rowheader", { name }).waitFor();
  expect(await page.evaluate(brokenWords)).toEqual([]);
  await page.getByRole("button", { name: `Actions of ${name}` }).press("Enter");
  await page.getByRole("button", { name: action, exact: true }).waitFor();
  await expectAccessible(page);
  await page.setViewportSize(narrow);
});
