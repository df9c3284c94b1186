import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { expectAccessible } from "./expect-accessible.js";
import { openPanelFixture, versionFiles as files, type PanelFixture } from "./panel-fixture.js";

// axe checks each state four times, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

const chatty = `
export default { fetch(request) {
  const { pathname } = new URL(request.url);
  if (pathname.endsWith("/warn")) console.warn("a warning at", pathname);
  else console.log("asked for", pathname);
  return new Response("hello");
} };
`;
const failing = `
export default { fetch(request) {
  const [first, count] = new URL(request.url).pathname.split("/").filter(Boolean).map(Number);
  for (let number = first; number < first + count; number += 1)
    console.error("failure " + number + ";\\n    at inner (node:events:1:2)" + "\\n    at own (index.js:7:1)".repeat(12));
  return new Response("done");
} };
`;
let fixture: PanelFixture;

beforeAll(async () => {
  fixture = await openPanelFixture({
    ...files("shop", "1.0.0", "shop one"),
    "chatty/1.0.0/manifest.yaml": 'name: chatty\nversion: "1.0.0"\naccessLog: false\n',
    "chatty/1.0.0/index.js": chatty,
    "failing/1.0.0/manifest.yaml": 'name: failing\nversion: "1.0.0"\n',
    "failing/1.0.0/index.js": failing,
    "always500/1.0.0/manifest.yaml": 'name: always500\nversion: "1.0.0"\n',
    "always500/1.0.0/index.js": "export default { fetch: () => new Response(null, { status: 500 }) };",
  });
});

afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

const logOf = (page: Page, name: string) => page.getByRole("region", { name: `Log of ${name}` });

test("shows new log entries as they arrive, and filters entries by level and text", async () => {
  await fetch(`${fixture.daemon.url}/chatty/before`);
  const page = await fixture.open("apps/chatty/logs");
  const log = logOf(page, "chatty");
  await log.getByText("/before").waitFor();
  await page.getByText("Live").waitFor();
  await expectAccessible(page);
  await fetch(`${fixture.daemon.url}/chatty/while-open`);
  await log.getByText("/while-open").waitFor();
  await fetch(`${fixture.daemon.url}/chatty/warn`);
  await page.getByLabel("Level").selectOption("warn");
  await log.getByText("a warning at").waitFor();
  await expect.poll(() => log.getByText("/while-open").count()).toBe(0);
  await page.getByLabel("Search in text").fill("nothing like it");
  await page.getByText("Nothing in the log matches").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await log.getByText("/while-open").waitFor();
  expect(new URL(page.url()).search).toBe("");
});

test("shows requests in the log, and only failed requests with the 5xx filter", async () => {
  await fetch(`${fixture.daemon.url}/always500/pay?card=hidden`);
  await fetch(`${fixture.daemon.url}/shop/logged`);
  const page = await fixture.open("apps/always500/logs");
  const log = logOf(page, "always500");
  await log.getByText(/GET \/always500\/pay 500 [\d.]+ ms/).waitFor();
  await page.getByLabel("Source").selectOption("app");
  await expect.poll(() => log.getByText("GET /always500/pay").count()).toBe(0);
  await page.getByLabel("Source").selectOption("");
  await page.getByLabel("Status").selectOption("5xx");
  await log.getByText("GET /always500/pay").waitFor();
  await expectAccessible(page);
  await page.goto(`${fixture.daemon.url}/cpanel/apps/shop/logs?source=request`);
  await page.getByText(/GET \/shop\/logged [234]/).waitFor();
});

test("keeps the end of a log with stack traces visible until the user scrolls up", async () => {
  const fail = (first: number, count: number) => fetch(`${fixture.daemon.url}/failing/${first}/${count}`);
  await fail(0, 120);
  const page = await fixture.open("apps/failing/logs");
  const log = logOf(page, "failing");
  const lastLine = (number: number) => log.getByText(`failure ${number};`);
  await lastLine(119).waitFor();
  expect(await lastLine(119).innerText()).toBe("failure 119;\n    at own (index.js:7:1) +12 frames");
  const toEnd = () =>
    page.evaluate<number>(
      `(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(document.querySelector(".log-box"))`,
    );
  await expect.poll(toEnd).toBeLessThan(2);
  for (let round = 2; round < 7; round += 1) {
    await fail(round * 100, 10);
    await lastLine(round * 100 + 9).waitFor();
    await expect.poll(toEnd).toBeLessThan(2);
  }
  await log.hover();
  await page.mouse.wheel(0, -600);
  await expect.poll(toEnd).toBeGreaterThan(300);
  await fail(800, 1);
  await page.getByRole("button", { name: /^Jump to newest · \d new$/ }).waitFor();
  await expectAccessible(page);
  expect(await toEnd()).toBeGreaterThan(300);
  await page.mouse.wheel(0, 100_000);
  await expect.poll(toEnd).toBeLessThan(2);
  await fail(900, 10);
  await lastLine(909).waitFor();
  await expect.poll(toEnd).toBeLessThan(2);
});

test("opens the details of a request, with its ID, by mouse and by keyboard", async () => {
  const response = await fetch(`${fixture.daemon.url}/always500/detail`);
  const page = await fixture.open("apps/always500/logs?text=detail");
  await logOf(page, "always500").getByText("GET /always500/detail").click();
  const details = page.locator(".log-details");
  await details.getByText(response.headers.get("x-request-id") ?? "none", { exact: true }).waitFor();
  const bottom = await bottomOf(page.locator(".log-box"));
  await expect.poll(() => bottomOf(details.getByRole("button", { name: "Copy line" }))).toBeLessThan(bottom);
  await expectAccessible(page);
  const toggle = page.getByRole("button", { name: /^Details of the line at / });
  await toggle.press("Enter");
  await details.waitFor({ state: "hidden" });
  await fetch(`${fixture.daemon.url}/always500/detail-2`);
  await page.getByText("detail-2").waitFor();
  await toggle.first().press("ArrowDown");
  await expect.poll(() => page.evaluate(`document.activeElement.closest("li")?.innerText.includes("detail-2")`)).toBe(true);
});

test("shows deployments and restarts between the log entries", async () => {
  const headers = { "x-api-key": fixture.daemon.rootKey };
  const page = await fixture.open("apps/chatty/logs");
  await fetch(`${fixture.daemon.url}/chatty/mark`);
  await logOf(page, "chatty").getByText("/mark").waitFor();
  expect((await fetch(`${fixture.daemon.url}/api/workers/_/chatty/1.0.0/restart`, { method: "POST", headers })).status).toBe(200);
  await logOf(page, "chatty")
    .getByText(/^Restarted chatty.* by root/)
    .waitFor();
  await expectAccessible(page);
});

test("selects a time range in the histogram, and exports the selected entries", async () => {
  await fetch(`${fixture.daemon.url}/chatty/first`);
  const page = await fixture.open("apps/chatty/logs");
  await logOf(page, "chatty").getByText("/first").waitFor();
  await page.getByRole("slider").focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Enter");
  await page.getByText("Time range", { exact: true }).waitFor();
  const { searchParams } = new URL(page.url());
  expect(Number(searchParams.get("until"))).toBeGreaterThan(Number(searchParams.get("since")));
  await expectAccessible(page);
  await page.getByLabel("Time", { exact: true }).selectOption("");
  await page.getByText("Live").waitFor();
  await page.getByLabel("Search in text").fill("/first");
  await expect.poll(() => page.locator(".log-line").count()).toBe(1);
  await page.getByRole("button", { name: "Export" }).click();
  await expectAccessible(page);
  const save = async (format: string) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: format, exact: true }).click()]);
    return { name: download.suggestedFilename(), text: await readFile(await download.path(), "utf8") };
  };
  const text = await save("Text");
  expect(text.name).toBe("chatty.log");
  expect(text.text).toMatch(/^\d{4}-\S+Z info chatty 1\.0\.0 asked for \/first\n$/);
  const jsonl = await save("JSONL");
  expect(JSON.parse(jsonl.text)).toMatchObject({ worker: "chatty", text: "asked for /first" });
});

test("shows the logs of all apps with the app names, and filters the logs by one app", async () => {
  await fetch(`${fixture.daemon.url}/chatty/all`);
  await fetch(`${fixture.daemon.url}/shop/all`);
  const page = await fixture.open("logs");
  const log = page.getByRole("region", { name: "Log of all apps" });
  await log.getByText("GET /shop/all").waitFor();
  await log.getByText("asked for /all").waitFor();
  await expectAccessible(page);
  await page.getByLabel("App", { exact: true }).selectOption("shop");
  await expect.poll(() => log.getByText("asked for /all").count()).toBe(0);
  expect(new URL(page.url()).searchParams.get("app")).toBe("shop");
  await page.getByRole("button", { name: "Wrap" }).click();
  expect(new URL(page.url()).searchParams.get("wrap")).toBe("off");
  await expectAccessible(page);
});

test("shows the missing permission to a key that is not allowed to read logs", async () => {
  const blind = await fixture.open("logs", { key: await fixture.key({ role: "custom", permissions: ["keys:read"] }) });
  await blind.getByText("It lacks the permission workers:read.").waitFor();
  await expectAccessible(blind);
});

const bottomOf = async (element: Locator) => {
  const box = await element.boundingBox();
  return (box?.y ?? 0) + (box?.height ?? 0);
};
