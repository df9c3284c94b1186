import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";
import { dropPaths } from "../panel/drop-paths.js";
import { openPanelFixture, type PanelFixture } from "../panel/panel-fixture.js";
import { signOut } from "../panel/panel-browser.js";

let fixture: PanelFixture;

beforeAll(async () => {
  fixture = await openPanelFixture({});
});

afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

const get = (url: string) => fetch(fixture.daemon.url + url);

test("the panel uploads and disables an app and creates a key in a real browser", async () => {
  const folder = path.join(await temporaryDirectory(), "site");
  await writeTree(folder, { "manifest.yaml": "name: site\nversion: 1.0.0\n", "index.html": "the site" });
  const page = await fixture.open("apps");
  await page.getByRole("heading", { name: "Apps", level: 1 }).waitFor();
  await dropPaths(page, [folder]);
  await page.getByRole("dialog", { name: "Upload site 1.0.0?" }).getByRole("button", { name: "Upload" }).click();
  await page.getByRole("dialog", { name: "site 1.0.0 is installed" }).waitFor();
  expect(await (await get("/site/")).text()).toContain("the site");

  await page.goto(`${fixture.daemon.url}/cpanel/apps/site/deployments`);
  await page.getByRole("button", { name: "Disable site 1.0.0" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Disable version" }).click();
  await page.getByText("Every version is disabled, so no version is served.").waitFor();
  expect((await get("/site/")).status).toBe(404);

  await page.goto(`${fixture.daemon.url}/cpanel/keys/new`);
  await page.getByLabel("Name", { exact: true }).fill("pipeline");
  await page.getByRole("button", { name: "Create key" }).click();
  const secret = page.getByRole("alertdialog", { name: "The key pipeline" });
  const key = await secret.getByLabel("Secret").inputValue();
  expect((await fetch(`${fixture.daemon.url}/api/workers`, { headers: { "x-api-key": key } })).status).toBe(200);

  await page.goto(`${fixture.daemon.url}/cpanel/`);
  // Calls that still run at the sign-out would fail with 401.
  await page.getByText("per second", { exact: true }).waitFor();
  await signOut(page);
  await page.getByText("You have signed out.").waitFor();
  expect(await page.context().cookies()).toEqual([]);
});
