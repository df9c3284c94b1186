import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { packFiles } from "../../support/pack-files.js";
import { openPanelFixture, type PanelFixture } from "./panel-fixture.js";

vi.setConfig({ testTimeout: 90_000 });

let fixture: PanelFixture;
let page: Page;

const manifest = (version: string) => `name: orders\nversion: ${version}\ncron:\n  - schedule: "0 0 1 1 *"\n    endpoint: /tick\n`;

beforeAll(async () => {
  fixture = await openPanelFixture({
    "orders/0.9.0/manifest.yaml": manifest("0.9.0"),
    "orders/0.9.0/index.js": "export default { fetch: () => new Response('fine') };",
    "orders/1.0.0/manifest.yaml": manifest("1.0.0"),
    "orders/1.0.0/index.js": "export default { fetch() {\n  throw new Error('no such order');\n} };",
  });
  const client = connect(fixture.daemon.url, fixture.daemon.rootKey);
  const plugin = { "manifest.yaml": "name: lamp\nversion: 1.0.0\n", "plugin.js": "export default {};" };
  await client.plugins.upload({ file: uploadOf("lamp.tgz", await packFiles(plugin)) });
  await client.keys.create({ body: { name: "ci", role: "viewer", expiresIn: "7d" } });
  for (let request = 0; request < 5; request += 1) await fetch(`${fixture.daemon.url}/orders/`);
  page = await fixture.open("overview");
});
afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

/** A stop of the Tab key, as the page reports it. */
interface Stop {
  readonly name: string;
  /** Undefined if the focus is visible. */
  readonly fault: string | undefined;
}

/** Number of stops in the navigation and the top bar, which are on each page. */
const leastStops = 12;

const pages = [
  "overview",
  "apps",
  "apps/orders",
  "apps/orders/deployments",
  "apps/orders/logs",
  "apps/orders/configuration",
  "apps/orders/schedules",
  "apps/orders/files",
  "apps/orders/files?path=workers/orders/1.0.0",
  "logs",
  "activity",
  "settings",
  "keys",
  "keys/new",
  "plugins",
  "plugins/lamp",
  "hosts",
  "instances",
];

test.each(pages)("reaches each control of %s with Tab, and shows the focus", async (path) => {
  await page.goto(`${fixture.daemon.url}/cpanel/${path}`);
  await page.locator("h1").first().waitFor();
  await expect.poll(() => page.evaluate("document.querySelectorAll('.loading-rows, [aria-busy=true]').length")).toBe(0);
  await page.waitForLoadState("networkidle", { timeout: 2000 }).catch(() => undefined);
  const faults: string[] = [];
  let stops = 0;
  for (; stops < 400; stops += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate<Stop | undefined>(`(${look})()`);
    if (stop === undefined) break;
    if (stop.fault !== undefined) faults.push(`${stop.name}: ${stop.fault}`);
  }
  expect(stops).toBeGreaterThan(leastStops);
  expect(faults).toEqual([]);
  expect(await page.evaluate(`(${missed})()`)).toEqual([]);
});

test("rolls an app back, undoes the rollback and opens a page with the keyboard only", async () => {
  await page.goto(`${fixture.daemon.url}/cpanel/overview`);
  await page.getByRole("button", { name: "Roll back to 0.9.0: orders" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("orders 0.9.0 is active. 1.0.0 is disabled.").waitFor();
  await page.getByRole("button", { name: "Undo" }).focus();
  await page.keyboard.press("Enter");
  await expect.poll(async () => (await fetch(`${fixture.daemon.url}/orders/`)).status).toBe(502);
  const menu = page.getByRole("combobox", { name: "Go to app, run action" });
  const choose = async (text: string) => {
    await page.keyboard.press("Control+k");
    await menu.waitFor();
    await page.keyboard.type(text);
  };
  await choose("orders");
  await expect.poll(() => page.getByRole("option", { selected: true }).innerText()).toMatch(/^orders\s+[✕▲]\s*(?:failing|degraded)/);
  await page.keyboard.press("Escape");
  await choose("orders: roll back to 0.9.0");
  await page.keyboard.press("Enter");
  await page.getByText("orders 0.9.0 is active. 1.0.0 is disabled.").waitFor();
  expect(await (await fetch(`${fixture.daemon.url}/orders/`)).text()).toBe("fine");
  await choose("lamp: disable");
  await page.keyboard.press("Enter");
  await page.getByText("lamp is off.").waitFor();
  await choose("orders: logs");
  await page.keyboard.press("Enter");
  await expect.poll(() => page.url()).toBe(`${fixture.daemon.url}/cpanel/apps/orders/logs`);
});

/** Runs in the page: marks the focused element, and returns it with the fault of its focus. Undefined at the end of the page. */
const look = `() => {
  const element = document.activeElement;
  if (!element || element === document.body || element.dataset.tabStop) return undefined;
  element.dataset.tabStop = "yes";
  const name = element.tagName + " " + (element.getAttribute("aria-label") ?? element.textContent ?? "").trim().slice(0, 60);
  const choice = element.closest("label")?.querySelector(".choice-mark");
  const outlined = [choice ?? element, element.closest(".cm-editor"), element.parentElement].filter(Boolean);
  const isOutlined = outlined.some((one) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  });
  if (!isOutlined) return { name, fault: "no focus ring" };
  const box = (choice ?? element).getClientRects()[0];
  if (!box) return { name, fault: "not rendered" };
  const hit = document.elementFromPoint(box.left + box.width / 2, Math.max(box.top, 0) + Math.min(box.height, 24) / 2);
  const isHit = hit !== null && (element.contains(hit) || hit.contains(element) || hit.closest("label")?.contains(element));
  return { name, fault: isHit ? undefined : "outside of the window, or below " + (hit?.className ?? "nothing") };
}`;

/** Runs in the page: returns the visible controls that were not focused. Only one of the options of a group is a stop. */
const missed = `() =>
  [...document.querySelectorAll("a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary")]
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.dataset.tabStop && one.tabIndex >= 0)
    .filter((one) => one.type !== "radio" && one.type !== "file")
    .map((one) => one.outerHTML.slice(0, 160))`;
