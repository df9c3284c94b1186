import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import type { Client } from "../../../src/shared/client.js";
import { connect, uploadOf } from "../../support/connect.js";
import { packFiles } from "../../support/pack-files.js";
import { openPanelFixture, versionFiles, type PanelFixture } from "./panel-fixture.js";
import { signOut } from "./panel-browser.js";

// Time limit, because these tests open several pages one after the other.
vi.setConfig({ testTimeout: 90_000 });

/** Drops every timer of 5 s or more, so that updates come from events and not from polling. */
const withoutTurns = `{
  const set = window.setTimeout;
  window.setTimeout = (act, afterMs, ...given) => (afterMs >= 5000 ? 0 : set(act, afterMs, ...given));
}`;

let fixture: PanelFixture;
let client: Client;

beforeAll(async () => {
  fixture = await openPanelFixture({ ...versionFiles("shop", "1.0.0", "the shop"), ...versionFiles("@team/blog", "1.0.0", "the blog") });
  client = connect(fixture.daemon.url, fixture.daemon.rootKey);
});
afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

/** Opens a page that receives updates only by events. */
async function openTold(at: string, how: Parameters<PanelFixture["open"]>[1] = {}): Promise<Page> {
  const page = await fixture.open(at, how);
  onTestFinished(() => page.context().close());
  await page.addInitScript(withoutTurns);
  const address = page.url();
  // Closes the existing stream before the test waits for the next stream.
  await page.goto("about:blank");
  const isFollowing = page.waitForResponse("**/api/events*");
  await page.goto(address);
  await isFollowing;
  return page;
}

/** Resolves when the page itself aborts the stream. */
const untilStreamEnds = (page: Page) =>
  page.waitForEvent("requestfailed", { predicate: (request) => new URL(request.url()).pathname === "/api/events" });
const toggle = (scope: string, name: string, verb: "disable" | "enable") =>
  client.workers[verb]({ params: { scope, name, version: "1.0.0" } });
const upload = (files: Record<string, string>) => packFiles(files).then((archive) => uploadOf("package.tgz", archive));
const rowOf = (page: Page, name: string) => page.getByRole("rowheader", { name });

test("shows immediately that another client uploads, disables or deletes an app", async () => {
  const [list, overview] = [await openTold("apps"), await openTold("overview")];
  await rowOf(list, "shop").waitFor();
  await overview.getByRole("main").getByRole("link", { name: "2 apps" }).waitFor();
  const files = { "manifest.yaml": "name: fresh\nversion: 1.0.0\n", "index.html": "fresh" };
  await client.workers.upload({ file: await upload(files) });
  await rowOf(list, "fresh").waitFor();
  await overview.getByRole("main").getByRole("link", { name: "3 apps" }).waitFor();
  await list.getByRole("link", { name: "fresh" }).click();
  await list.getByText("Serving 1.0.0").waitFor();
  await client.workers.disable({ params: { scope: "_", name: "fresh", version: "1.0.0" } });
  await list.getByText("Every version is disabled, so no version is served.").waitFor();
  await client.workers.remove({ params: { scope: "_", name: "fresh" } });
  await list.getByText("No app named fresh is installed").waitFor();
  await overview.getByRole("main").getByRole("link", { name: "2 apps" }).waitFor();
});

test("shows plugins, keys and files immediately after another client changes them", async () => {
  const page = await openTold("plugins");
  await page.getByRole("table", { name: "Plugins" }).waitFor();
  const manifest = "name: notes\nversion: 1.0.0\nbase: /notes\nmenus:\n  - { title: Notes, icon: note, path: /notes/ }\n";
  await client.plugins.upload({ file: await upload({ "manifest.yaml": manifest, "plugin.js": "export default {};" }) });
  await rowOf(page, "notes").waitFor();
  await page.getByRole("navigation", { name: "Pages of plugins" }).getByRole("link", { name: "Notes" }).waitFor();
  await client.plugins.remove({ params: { name: "notes" } });
  await expect.poll(() => page.getByRole("navigation", { name: "Pages of plugins" }).count()).toBe(0);

  const keys = await openTold("keys");
  const made = (await client.keys.create({ body: { name: "robot", role: "viewer" } })).data;
  await rowOf(keys, "robot").waitFor();
  await client.keys.revoke({ params: { id: String(made.id) } });
  await expect.poll(() => rowOf(keys, "robot").count()).toBe(0);

  const files = await openTold("apps/shop/files?path=workers/shop/1.0.0");
  await rowOf(files, "index.html").waitFor();
  await client.workerFiles.mkdir({ body: { path: "workers/shop/1.0.0/assets" } });
  await rowOf(files, "assets/").waitFor();
});

test("sends no requests when an app outside of the key's namespaces changes", async () => {
  const page = await openTold("apps", { key: await fixture.key({ role: "editor", namespaces: ["@team"] }) });
  const everything = await openTold("apps");
  // The initial requests are complete once a first change is visible.
  await toggle("@team", "blog", "disable");
  await page.getByRole("cell", { name: "disabled" }).waitFor();
  let questions = 0;
  page.on("request", (request) => (questions += request.url().endsWith("/api/workers") ? 1 : 0));
  for (const round of ["one", "two", "three"]) {
    await toggle("_", "shop", "disable");
    await everything.getByRole("row", { name: "disabled shop" }).waitFor();
    await toggle("_", "shop", "enable");
    await everything.getByRole("row", { name: "shop 1.0.0" }).waitFor();
    // One at most: the second event of the first change can arrive after its row is updated.
    expect(questions, round).toBeLessThanOrEqual(1);
  }
  await toggle("@team", "blog", "enable");
  await page.getByRole("cell", { name: "1.0.0" }).waitFor();
  expect(questions).toBeGreaterThan(0);
});

test("ends the session when its key is revoked; closes the event stream at sign-out", async () => {
  const { id, key } = (await client.keys.create({ body: { name: "leaving", role: "admin" } })).data;
  // For up to 1 s after the revocation the stream is still open, so the list can be requested with the revoked key.
  const page = await openTold("apps", { key, provoked: [401] });
  await rowOf(page, "shop").waitFor();
  await client.keys.revoke({ params: { id: String(id) } });
  const dialog = page.getByRole("alertdialog", { name: "Your session has ended" });
  // An event makes the daemon check the key again, at most once per second; without events every 15 s.
  await expect
    .poll(async () => {
      await client.workers.restart({ params: { scope: "_", name: "shop", version: "1.0.0" } });
      return dialog.isVisible();
    })
    .toBe(true);
  // Sends a request with the revoked key, because the page itself can send none.
  await page.evaluate(`fetch("/api/workers")`);
  await dialog.getByLabel("API key").fill(fixture.daemon.rootKey);
  const isFollowing = page.waitForResponse("**/api/events*");
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await isFollowing;
  const end = untilStreamEnds(page);
  await signOut(page);
  await page.getByText("You have signed out.").waitFor();
  await end;
});

test("closes the event stream while the tab is hidden, and opens it again afterwards", async () => {
  const page = await openTold("keys");
  const end = untilStreamEnds(page);
  const look = (isHidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true }); document.dispatchEvent(new Event("visibilitychange"))`,
    );
  await look(true);
  await end;
  await client.keys.create({ body: { name: "meanwhile", role: "viewer" } });
  expect(await rowOf(page, "meanwhile").count()).toBe(0);
  const isFollowing = page.waitForResponse("**/api/events*");
  await look(false);
  await isFollowing;
  await rowOf(page, "meanwhile").waitFor();
});

test("requests the lists at intervals while no event stream is available", async () => {
  const page = await fixture.browser.page(`${fixture.daemon.url}/cpanel/keys`, { provoked: [503] });
  onTestFinished(() => page.context().close());
  const error = { code: "TOO_MANY_STREAMS", message: "Too many event streams are open. Close a stream, or retry after 10 seconds." };
  let refusals = 0;
  await page.route("**/api/events*", async (route) => {
    refusals += 1;
    await route.fulfill({ status: 503, json: { error } });
  });
  await page.getByLabel("API key").fill(fixture.daemon.rootKey);
  await page.keyboard.press("Enter");
  await rowOf(page, "meanwhile").waitFor();
  await expect.poll(() => refusals).toBeGreaterThan(0);
  await client.keys.create({ body: { name: "in-turn", role: "viewer" } });
  await rowOf(page, "in-turn").waitFor();
});
