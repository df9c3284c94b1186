import { EventEmitter, once } from "node:events";
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
const longName = "an-app-with-a-name-that-goes-on-and-on-without-any-place-to-break-at-until-it-ends";
let fixture: PanelFixture;

beforeAll(async () => {
  fixture = await openPanelFixture({
    ...files(longName, "1.0.0-a.prerelease.whose.name.is.long.as.well.20261122080000", "long"),
    ...files("shop", "1.0.0", "shop one"),
    ...files("shop", "1.1.0", "shop two"),
    ...files("@team/blog", "1.0.0", "blog"),
    ...files("asleep", "1.0.0", "never", "enabled: false\n"),
    "chatty/1.0.0/manifest.yaml": 'name: chatty\nversion: "1.0.0"\naccessLog: false\n',
    "chatty/1.0.0/index.js": chatty,
    "orders/1.0.0/manifest.yaml": 'name: orders\nversion: "1.0.0"\n',
    "orders/1.0.0/index.js": "export default { fetch() {\n  throw new Error('no such order');\n} };",
    ...Object.fromEntries(["a", "b"].flatMap((name) => Object.entries(files(`deleted-${name}`, "1.0.0", "deleted")))),
  });
});

afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

test("filters apps by name, namespace and state, and keeps the filters in the URL", async () => {
  const page = await fixture.open("apps");
  await page.getByRole("link", { name: "shop", exact: true }).waitFor();
  expect(await page.getByRole("link", { name: "cpanel" }).count()).toBe(0);
  await expectAccessible(page);
  await page.getByLabel("Search by name").fill("blo");
  await expect.poll(() => page.getByRole("rowheader").allTextContents()).toEqual(["@team/blog"]);
  expect(page.url()).toContain("search=blo");
  await page.getByLabel("Search by name").fill("nothing like it");
  await page.getByText("No app matches").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Clear filters" }).click();
  const segments = page.getByRole("group", { name: "State" });
  await segments.getByRole("button", { name: "Disabled" }).click();
  await expect.poll(() => page.getByRole("rowheader").allTextContents()).toEqual(["asleep"]);
  await page.reload();
  await expect.poll(() => page.getByRole("rowheader").allTextContents()).toEqual(["asleep"]);
  expect(await segments.getByRole("button", { name: "Disabled" }).getAttribute("aria-pressed")).toBe("true");
  await segments.getByRole("button", { name: "All" }).click();
  await page.getByLabel("Namespace").selectOption("@team");
  await expect.poll(() => page.getByRole("rowheader").allTextContents()).toEqual(["@team/blog"]);
  await page.getByLabel("Namespace").selectOption("");
  await page.getByLabel("Show").selectOption("all");
  await page.getByRole("link", { name: "cpanel" }).waitFor();
});

test("shows cause and position of an app's failure in overview, list and app page", async () => {
  const page = await fixture.open("overview");
  for (let request = 0; request < 5; request += 1) expect((await fetch(`${fixture.daemon.url}/orders/`)).status).toBe(502);
  const attention = page.getByRole("region", { name: "Needs attention" }).getByRole("listitem").filter({ hasText: "orders" });
  await attention.getByText("100 % of requests failed").waitFor();
  await attention.getByText("Error: no such order (index.js:2)").waitFor();
  await page.getByText("1 app is failing").waitFor();
  const sections = page.getByRole("navigation", { name: "Sections" });
  const appsLink = sections.getByRole("link", { name: "Apps", exact: true });
  expect(
    await sections
      .getByRole("listitem")
      .filter({ has: page.getByRole("link", { name: "Apps", exact: true }) })
      .innerText(),
  ).toMatch(/Apps\s+1\s+failing/);
  await expectAccessible(page);
  await attention.getByRole("link", { name: "Logs of orders" }).click();
  await page.getByText("no such order").first().waitFor();
  await appsLink.click();
  const row = page.getByRole("row", { name: "orders" });
  await row.getByText("100 %", { exact: true }).waitFor();
  // Failing apps come first.
  expect(await page.getByRole("rowheader").first().textContent()).toBe("orders");
  expect(await row.locator(".state-ok").count()).toBe(0);
  await page.getByRole("button", { name: "Failing 1" }).click();
  await expect.poll(() => page.getByRole("rowheader").allTextContents()).toEqual(["orders"]);
  await expectAccessible(page);
  await page.getByRole("link", { name: "orders" }).click();
  await page.getByText("Error: no such order (index.js:2)").waitFor();
  await page.getByText(/^Since the start of the daemon, \d\d:\d\d: 5 requests, 5 failed$/).waitFor();
  await expectAccessible(page);
  await page.getByRole("navigation", { name: "Pages of orders" }).getByRole("link", { name: "Deployments" }).click();
  await page.getByText(/5 errors/).waitFor();
  expect(await page.locator("main .badge-good").count()).toBe(0);
});

test("shows the figures of an app after the first response with metrics", async () => {
  const page = await fixture.open("keys");
  const gate = new EventEmitter();
  const opened = once(gate, "open");
  await page.route("**/api/metrics.json*", async (route) => {
    await opened;
    await route.continue();
  });
  await page.goto(`${fixture.daemon.url}/cpanel/apps/shop`);
  await page.getByRole("heading", { name: "Isolates" }).waitFor();
  const memory = page.getByRole("region", { name: "Memory", exact: true });
  expect(await memory.count()).toBe(0);
  gate.emit("open");
  await memory.getByText(/^Now/).waitFor();
  await page.getByRole("region", { name: "Running isolates" }).waitFor();
});

test("activates another version, and Undo activates the previous version", async () => {
  const page = await fixture.open("apps/shop/deployments");
  await page.getByText("Serving 1.1.0").waitFor();
  expect(await page.getByRole("navigation", { name: "Breadcrumb" }).innerText()).toMatch(/^Apps\s+/);
  await expectAccessible(page);
  await page.getByRole("button", { name: "Activate shop 1.0.0" }).click();
  await page.getByText("Serving 1.0.0").waitFor();
  await page.getByText("shop 1.0.0 is active. 1.1.0 is disabled.").waitFor();
  expect(await (await fetch(`${fixture.daemon.url}/shop/`)).text()).toContain("shop one");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Serving 1.1.0").waitFor();
  expect(await (await fetch(`${fixture.daemon.url}/shop/`)).text()).toContain("shop two");
  await page.getByRole("button", { name: "Restart shop 1.1.0" }).click();
  await page.getByText("shop 1.1.0 is restarted").waitFor();
});

test("shows that no version is enabled when the last version is disabled", async () => {
  const page = await fixture.open("apps/@team/blog/deployments");
  await page.getByRole("button", { name: "Disable @team/blog 1.0.0" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Disable version" }).click();
  await page.getByText("Every version is disabled, so no version is served.").waitFor();
  await expectAccessible(page);
  expect((await fetch(`${fixture.daemon.url}/@team/blog/`)).status).toBe(404);
  await page.getByRole("button", { name: "Enable @team/blog 1.0.0" }).click();
  await page.getByText("Serving 1.0.0").waitFor();
});

test("deletes an app only after the user types its name", async () => {
  const page = await fixture.open("apps/deleted-a/deployments");
  await page.getByRole("button", { name: "Delete app…" }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByText("/deleted-a/ then responds with 404.").waitFor();
  await expectAccessible(page);
  expect(await dialog.getByText("secrets").count()).toBe(0);
  const button = dialog.getByRole("button", { name: "Delete app" });
  expect(await button.isDisabled()).toBe(true);
  await dialog.getByLabel("Type deleted-a to confirm").fill("deleted-a");
  expect((await fetch(`${fixture.daemon.url}/deleted-a/`)).status).toBe(200);
  await button.click();
  await page.getByRole("heading", { name: "Apps", level: 1 }).waitFor();
  await expect.poll(() => page.getByRole("link", { name: "deleted-a" }).count()).toBe(0);
  expect((await fetch(`${fixture.daemon.url}/deleted-a/`)).status).toBe(404);
});

test("shows an error page for an unknown app and for an unknown path", async () => {
  const page = await fixture.open("apps/no-such-app");
  await page.getByText("No app named no-such-app is installed").waitFor();
  await expectAccessible(page);
  await page.goto(`${fixture.daemon.url}/cpanel/apps/shop/nonsense`);
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
});

test("shows only the apps and actions that the key is allowed to use", async () => {
  const viewer = await fixture.open("apps/shop/deployments", { key: await fixture.key({ role: "viewer" }) });
  await viewer.getByText("This key is read-only.").waitFor();
  await viewer.getByRole("button", { name: "Compare with 1.1.0: 1.0.0" }).waitFor();
  const buttons = await viewer.getByRole("main").getByRole("button").all();
  expect(await Promise.all(buttons.map((button) => button.getAttribute("aria-label")))).toEqual([
    "Copy URL of shop",
    "Compare with 1.1.0: 1.0.0",
  ]);
  await expectAccessible(viewer);
  const team = await fixture.open("apps", { key: await fixture.key({ role: "editor", namespaces: ["@team"] }) });
  await team.getByText("1 app; this key sees @team only").waitFor();
  expect(await team.getByRole("rowheader").allTextContents()).toEqual(["@team/blog"]);
  const blind = await fixture.open("apps", { key: await fixture.key({ role: "custom", permissions: ["keys:read"] }) });
  await blind.getByText("This key may not see apps").waitFor();
  await expectAccessible(blind);
});

test("shows long app names and versions on several lines in a narrow window", async () => {
  const page = await fixture.open(`apps/${longName}/deployments`);
  await page.getByText("Serving 1.0.0-").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: `Delete ${longName} 1.0.0-` }).click();
  await page.getByRole("alertdialog").waitFor();
  await expectAccessible(page);
});

test("shows a placeholder while the apps load, and an error if the list or log fails", async () => {
  const page = await fixture.open("overview", { provoked: [403] });
  const gate = new EventEmitter();
  const error = { code: "PERMISSION_DENIED", message: "Something failed in the daemon." };
  await page.route("**/api/workers", async (route) => {
    await once(gate, "open");
    await route.fulfill({ status: 403, json: { error }, headers: { "x-request-id": "request-1" } });
  });
  await page.goto(`${fixture.daemon.url}/cpanel/apps`);
  await page.getByText("Loading apps").waitFor({ state: "attached" });
  await expectAccessible(page);
  gate.emit("open");
  await page.getByText("The apps could not be read").waitFor();
  await expectAccessible(page);
  await page.unrouteAll();
  await page.route(/\/logs\?/, (route) => route.fulfill({ status: 403, json: { error } }));
  await page.goto(`${fixture.daemon.url}/cpanel/apps/chatty/logs`);
  await page.getByText("The log cannot be followed").waitFor();
  await expectAccessible(page);
  await page.unrouteAll();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("Live").waitFor();
});
