import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { expectAccessible } from "./expect-accessible.js";
import { PanelBrowser, signIn } from "./panel-browser.js";

vi.setConfig({ testTimeout: 90_000 });

let daemon: TestDaemon;
let browser: PanelBrowser;

beforeAll(async () => {
  [daemon, browser] = await Promise.all([startDaemon(), PanelBrowser.open()]);
});
afterAll(async () => {
  await Promise.all([daemon.dispose(), browser.close()]);
});

test("shows a hint if no host name exists, and adds and removes host names", async () => {
  const page = await browser.page(`${daemon.url}/cpanel/hosts`);
  await signIn(page, daemon.rootKey);
  await page.getByText("No host names yet").waitFor();
  await expectAccessible(page);
  const root = connect(daemon.url, daemon.rootKey);
  const archive = await packFiles({ "manifest.yaml": manifestOf("shop", "1.0.0", "hosts: [shop.example.org]\n"), "index.html": "shop" });
  await root.workers.upload({ file: uploadOf("shop.tgz", archive) });
  await page.getByRole("button", { name: "Add shop.example.org" }).click();
  await page.getByRole("cell", { name: "added" }).waitFor();
  await expectAccessible(page);
  const served = (await root.hosts.list()).hosts;
  expect(served).toMatchObject([{ host: "shop.example.org", worker: "shop", createdBy: "root" }]);
  await page.getByRole("button", { name: "Remove shop.example.org" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Remove shop.example.org?" });
  await dialog.getByRole("textbox").fill("shop.example.org");
  await dialog.getByRole("button", { name: "Remove host name" }).click();
  await page.getByRole("cell", { name: "requested" }).waitFor();
  expect((await root.hosts.list()).hosts).toEqual([]);
  await root.hosts.add({ params: { host: "other.example.org" }, body: { worker: "shop" } });
  await page.getByRole("rowheader", { name: "other.example.org" }).waitFor();
  await page.getByRole("button", { name: "Add host" }).press("Enter");
  const adding = page.getByRole("dialog", { name: "Add a host" });
  await page.keyboard.type("typed.example.org");
  await adding.getByLabel("App").selectOption("shop");
  await expectAccessible(page);
  await adding.getByRole("button", { name: "Add host" }).click();
  await page.getByText("typed.example.org leads to shop.").waitFor();
  await page.getByRole("rowheader", { name: "typed.example.org" }).waitFor();
  expect((await root.hosts.list()).hosts.map(({ host }) => host).toSorted()).toEqual(["other.example.org", "typed.example.org"]);
  expect(browser.complaints).toEqual([]);
});
