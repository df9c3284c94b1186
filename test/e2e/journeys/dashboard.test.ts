import { afterAll, beforeAll, expect, test } from "vitest";
import { writeTree } from "../../support/write-tree.js";
import { keys } from "../../support/terminal-window.js";
import { DashboardSession } from "../dashboard/dashboard-session.js";

let session: DashboardSession;

beforeAll(async () => {
  session = await DashboardSession.open();
  await writeTree(session.shell.home, { "shop/manifest.yaml": "name: shop\nversion: 2.0.0\n", "shop/index.html": "the shop" });
});

afterAll(() => session?.close());

const get = (path: string) => fetch(session.daemon.url + path);

test("the dashboard uploads, disables, enables and deletes a worker in a real terminal", async () => {
  const window = await session.tui("--screen workers", { columns: 100, rows: 30 });
  await window.waitFor(/app +1\.0\.0 +– idle +active/);
  window.press("u");
  await window.waitFor("folder or archive to upload: ./");
  window.press(`sho${keys.tab}`);
  await window.waitFor("./shop/");
  window.press(keys.enter);
  await window.waitFor("enter uploads");
  window.press(keys.enter);
  await window.waitFor("done: uploaded shop 2.0.0");
  expect(await (await get("/shop/")).text()).toContain("the shop");

  await window.waitFor(/shop +2\.0\.0 +\S+ (idle|ok) +active/);
  window.press(`/shop${keys.enter}`);
  await window.waitFor("D delete all");
  window.press("e");
  await window.waitFor("Disable shop 2.0.0, its only enabled version");
  window.press("y");
  await window.waitFor("done: shop 2.0.0 is disabled");
  expect((await get("/shop/")).status).toBe(404);
  window.press("U");
  await window.waitFor("done: shop 2.0.0 is enabled");
  expect((await get("/shop/")).status).toBe(200);

  window.press("D");
  await window.waitFor("Type shop to confirm");
  window.press(`shop${keys.enter}`);
  await window.waitFor("done: shop and its uploaded versions deleted");
  expect((await get("/shop/")).status).toBe(404);
  window.press("q");
  expect(await window.ended).toBe(0);
});
