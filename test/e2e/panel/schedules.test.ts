import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { expectAccessible } from "./expect-accessible.js";
import { openPanelFixture, versionFiles, type PanelFixture } from "./panel-fixture.js";

// axe checks each state four times, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

const code = `export default { fetch: (request) => new Response(null, { status: request.url.endsWith("/bad") ? 500 : 204 }) };\n`;
const cron = `cron:
  - { schedule: "0 4 1 1 *", endpoint: /tick }
  - { schedule: "0 5 1 1 *", endpoint: /bad, method: GET }
`;

let fixture: PanelFixture;

beforeAll(async () => {
  fixture = await openPanelFixture({
    "timer/1.0.0/manifest.yaml": `name: timer\nversion: "1.0.0"\n${cron}`,
    "timer/1.0.0/index.js": code,
    ...versionFiles("plain", "1.0.0", "plain"),
  });
});

afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

test("shows schedule, next run and the outcome of each run, and runs a job now", async () => {
  const page = await fixture.open("apps/timer/schedules");
  const tick = page.getByRole("region", { name: "POST /tick" });
  const bad = page.getByRole("region", { name: "GET /bad" });
  await tick.getByText("0 4 1 1 *").waitFor();
  await tick.getByText("next run 1 Jan").waitFor();
  await tick.getByText("No run yet.").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Run now: POST /tick" }).click();
  await page.getByText(/POST \/tick ran: ok, status 204, \d/).waitFor();
  await tick
    .getByRole("listitem")
    .getByText(/ok, status 204, \d/)
    .waitFor({ state: "attached" });
  expect(await tick.locator(".run-mark").innerText()).toContain("✓");
  await page.getByRole("button", { name: "Run now: GET /bad" }).click();
  await page.getByText(/GET \/bad ran: failed, status 500/).waitFor();
  await bad.getByText("1 run, 1 failed.").waitFor();
  expect(await bad.locator(".run-mark").innerText()).toContain("✕");
  await bad.getByText("Runs as a table").click();
  const row = bad.getByRole("row").nth(1);
  expect(await row.innerText()).toMatch(/failed[\s\S]*500[\s\S]*root[\s\S]*1\.0\.0/);
  await expectAccessible(page);
});

test("marks a run with an unknown outcome, and explains the mark to screen readers", async () => {
  const page = await fixture.open("overview");
  const run = { at: 1_790_000_000, durationMs: null, status: null, outcome: "unknown", trigger: "schedule" };
  await page.route("**/api/cron?*", async (route) => {
    const jobs = (await (await route.fetch()).json()) as object[];
    await route.fulfill({ json: jobs.map((job) => ({ ...job, runs: [run] })) });
  });
  await page.goto(`${fixture.daemon.url}/cpanel/apps/timer/schedules`);
  const tick = page.getByRole("region", { name: "POST /tick" });
  await tick.getByText("unknown, because its daemon stopped: the app was called once or not at all").waitFor({ state: "attached" });
  expect(await tick.locator(".run-mark").innerText()).toContain("?");
  await tick.getByText("? unknown").waitFor();
  await expectAccessible(page);
});

test("explains where schedules are declared, and which permission a run requires", async () => {
  const page = await fixture.open("apps/plain/schedules");
  await page.getByText("1.0.0 has no cron job").waitFor();
  await expectAccessible(page);
  const viewer = await fixture.open("apps/timer/schedules", { key: await fixture.key({ role: "viewer" }) });
  await viewer.getByText("workers:restart").first().waitFor();
  expect(await viewer.getByRole("button", { name: /^Run/ }).count()).toBe(0);
});
