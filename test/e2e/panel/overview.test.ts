import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { packFiles } from "../../support/pack-files.js";
import { expectAccessible } from "./expect-accessible.js";
import { openPanelFixture, versionFiles, type PanelFixture } from "./panel-fixture.js";

// axe checks each state four times, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let fixture: PanelFixture;

beforeAll(async () => {
  fixture = await openPanelFixture(versionFiles("shop", "1.0.0", "the shop"));
  const client = connect(fixture.daemon.url, fixture.daemon.rootKey);
  const broken = { "manifest.yaml": "name: broken\nversion: 1.0.0\ndependencies: [nowhere]\n", "plugin.js": "export default {};" };
  await client.plugins.upload({ file: uploadOf("broken.tgz", await packFiles(broken)) });
  for (const name of ["ci", "robot", "guest", "night", "probe", "spare"])
    await client.keys.create({ body: { name, role: "viewer", expiresIn: "7d" } });
});
afterAll(() => fixture.dispose());

test("shows package counts, traffic, a failed plugin and keys that expire soon", async () => {
  const page = await fixture.open("overview");
  const main = page.getByRole("main");
  await main.getByRole("link", { name: "1 app" }).waitFor();
  await main.getByText("1 plugin is failing · 6 keys expire soon").waitFor();
  const attention = page.getByRole("region", { name: "Needs attention" });
  await attention.getByText("The required plugin nowhere is not installed.").waitFor();
  expect(await attention.getByRole("listitem").count()).toBe(6);
  await attention.getByRole("button", { name: "Show all 7" }).click();
  expect(await attention.getByText(/^The key expires in [67] days\.$/).count()).toBe(6);
  const counts = (requests: number) =>
    main.getByText(new RegExp(`^Since the start of the daemon, \\d\\d:\\d\\d: ${requests} requests, 0 failed$`));
  await counts(0).waitFor();
  await fetch(`${fixture.daemon.url}/shop/`);
  await counts(1).waitFor();
  await expectAccessible(page);
  expect(fixture.browser.complaints).toEqual([]);
});

test("lists risky settings for keys that can read the settings", async () => {
  await fixture.key({ role: "custom", permissions: ["workers:install"], name: "deployer" });
  const page = await fixture.open("overview");
  const notice = page.getByRole("region", { name: "Degraded set-up" });
  await notice.getByText("panel origin").waitFor();
  await notice.getByText(/set RUNTIME_PANEL_HOST$/).waitFor();
  await expectAccessible(page);
  await notice.getByRole("link", { name: "Settings of the daemon" }).click();
  await page.getByRole("heading", { name: "Settings", level: 1 }).waitFor();
  const other = await fixture.open("overview", { key: await fixture.key({ role: "custom", permissions: ["keys:read"] }) });
  await other.getByRole("link", { name: /^\d+ keys$/ }).waitFor();
  expect(await other.getByRole("region", { name: "Degraded set-up" }).count()).toBe(0);
});

test("shows that the metrics are not readable and that the daemon is not ready", async () => {
  const page = await fixture.open("keys", { provoked: [403] });
  const error = { code: "PERMISSION_DENIED", message: "Something failed in the daemon." };
  await page.route(/\/api\/(?:metrics|health\/ready)/, (route) => route.fulfill({ status: 403, json: { error } }));
  await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: "Overview" }).click();
  await page.getByText("The metrics could not be read").waitFor();
  await page.getByText("The daemon is not ready").waitFor();
  await page.getByText("The history could not be read").waitFor();
  expect(await page.getByText("There are no values in this period yet.").count()).toBe(0);
  await expectAccessible(page);
  expect(fixture.browser.complaints).toEqual([]);
});

test("draws a history with a single value", async () => {
  const page = await fixture.open("keys");
  const points = { at: [1000], requests: [10], failed: [0], p50Ms: [1], p99Ms: [2], memoryBytes: [0], cpuSeconds: [0], isolates: [1] };
  await page.route(/\/api\/metrics\/history/, (route) => route.fulfill({ json: { stepSeconds: 10, points, markers: [] } }));
  await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: "Overview" }).click();
  const chart = page.getByRole("region", { name: "Requests per second" });
  await chart.locator("canvas").waitFor();
  expect(await chart.getByText("There are no values in this period yet.").count()).toBe(0);
  expect(fixture.browser.complaints).toEqual([]);
});

test("shows since when the daemon is unreachable, and shows all states without color", async () => {
  const own = await openPanelFixture(versionFiles("shop", "1.0.0", "the shop"));
  onTestFinished(() => own.dispose());
  // The code of a section cannot be loaded while the daemon is away.
  const page = await own.open("apps", { provoked: [/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|status of 503/] });
  await page.getByText("1.0.0", { exact: true }).waitFor();
  await fetch(`${own.daemon.url}/shop/`);
  await page.locator("tbody .state-ok").waitFor();
  const sections = page.getByRole("navigation", { name: "Sections" });
  await sections.getByRole("link", { name: "Overview" }).click();
  await page.getByText("The only app has no problem").waitFor();
  await own.daemon.stop();
  await page.getByText(/^The daemon is unreachable since \d\d:\d\d:\d\d$/).waitFor();
  expect(await page.getByText("has no problem").count()).toBe(0);
  await expectAccessible(page);
  await sections.getByRole("link", { name: "Apps" }).click();
  await page.getByText("1.0.0", { exact: true }).waitFor();
  const colorOf = (selector: string) => page.evaluate(`getComputedStyle(document.querySelector("${selector}")).color`);
  expect(await colorOf("tbody .state-ok")).toBe(await colorOf("main"));
  expect(own.browser.complaints).toEqual([]);
});

test("shows an error for a section whose code fails to load; other sections work", async () => {
  // React logs the error of a section to the console.
  const page = await fixture.open("overview", { provoked: [404, /dynamically imported module/] });
  await page.route("**/assets/keys-*.js", (route) => route.fulfill({ status: 404, body: "" }));
  const sections = page.getByRole("navigation", { name: "Sections" });
  await sections.getByRole("link", { name: "Keys" }).click();
  await page.getByText("The panel failed, or was updated while it was open").waitFor();
  await expectAccessible(page);
  await sections.getByRole("link", { name: "Apps" }).click();
  await page.getByRole("rowheader", { name: "shop" }).waitFor();
  expect(fixture.browser.complaints).toEqual([]);
});
