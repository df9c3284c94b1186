import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { startDaemon } from "../../support/start-daemon.js";
import { boardCode, boardManifest, packPlugin } from "./board-plugin.js";
import { expectAccessible } from "./expect-accessible.js";
import { signIn } from "./panel-browser.js";
import { openPanelFixture, type PanelFixture } from "./panel-fixture.js";
import { startPathProxy } from "./path-proxy.js";

// axe checks a page up to six times in some of these tests, for seconds each on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let fixture: PanelFixture;

beforeAll(async () => {
  fixture = await openPanelFixture({});
  const { plugins } = connect(fixture.daemon.url, fixture.daemon.rootKey);
  await plugins.upload({ file: uploadOf("basis.tgz", await packPlugin("name: basis\nversion: 1.0.0\n")) });
  await plugins.upload({ file: uploadOf("board.tgz", await packPlugin(boardManifest, boardCode)) });
});

afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

test("shows a plugin's page in a frame that cannot access the panel or its session", async () => {
  const page = await fixture.open("plugins");
  const asked = page.waitForRequest((request) => request.url().endsWith("/board/dot.svg"));
  const menu = page.getByRole("navigation", { name: "Pages of plugins" });
  await menu.getByRole("link", { name: "Board" }).click();
  await page.getByRole("heading", { name: "Board", level: 1 }).waitFor();
  const board = page.frameLocator("iframe");
  await board.getByText("null SecurityError SecurityError SecurityError").waitFor();
  expect((await (await asked).allHeaders())["cookie"]).toBeUndefined();
  expect(await menu.getByRole("link", { name: "Board" }).getAttribute("aria-current")).toBe("page");
  await expectAccessible(page);
  // A page without a background of its own is as dark as the panel.
  const look = "(({ backgroundColor, colorScheme }) => [backgroundColor, colorScheme])(getComputedStyle(document.querySelector('iframe')))";
  expect(await page.evaluate(look)).toEqual(["rgba(0, 0, 0, 0)", "light dark"]);
  await page.reload();
  await board.getByRole("heading", { name: "The board" }).waitFor();
  await page.context().close();
});

test("shows why a frame cannot show a plugin's page, and rejects paths not in the menu", async () => {
  const page = await fixture.open("plugins", { provoked: [404] });
  const menu = page.getByRole("navigation", { name: "Pages of plugins" });
  await menu.getByRole("link", { name: "Missing" }).click();
  await page.getByText("The plugin serves nothing at this address.").waitFor();
  await expectAccessible(page);
  await menu.getByRole("link", { name: "Closed" }).click();
  await page.getByText("Its headers forbid frames, so it opens in a new tab.").waitFor();
  await expectAccessible(page);
  const elsewhere = menu.getByRole("link", { name: "Elsewhere" });
  expect([await elsewhere.getAttribute("target"), await elsewhere.getAttribute("rel")]).toEqual(["_blank", "noopener noreferrer"]);
  for (const at of ["/elsewhere/", "/board/../api/keys", "//example.com/", "/board/other"]) {
    await page.goto(`${fixture.daemon.url}/cpanel/plugins/@team/board?at=${encodeURIComponent(at)}`);
    await page.getByText("No loaded plugin has this page").waitFor();
    expect(await page.locator("iframe").count()).toBe(0);
  }
  await page.context().close();
});
test("shows a plugin's page behind a proxy, and links to the page on an admin listener", async () => {
  const proxy = await startPathProxy(fixture.daemon.url, "/tools/runtime");
  onTestFinished(proxy.close);
  // Root-relative requests of the page itself do not reach the daemon through the proxy.
  const below = await fixture.browser.page(`${proxy.url}/cpanel/plugins/@team/board?at=/board/`, { provoked: [404] });
  await signIn(below, fixture.daemon.rootKey);
  await below.frameLocator("iframe").getByRole("heading", { name: "The board" }).waitFor();
  await expectAccessible(below);
  await below.context().close();

  const apart = await startDaemon({ env: { RUNTIME_ADMIN_PORT: "0", RUNTIME_PUBLIC_URL: "https://apps.example.org/" } });
  onTestFinished(apart.dispose);
  const { adminUrl } = apart;
  const plugins = connect(adminUrl, apart.rootKey).plugins;
  await plugins.upload({ file: uploadOf("board.tgz", await packPlugin(boardManifest.replace(/dependencies.*\n/, ""), boardCode)) });
  const page = await fixture.browser.page(`${adminUrl}/cpanel/plugins/@team/board?at=/board/`, { provoked: [404] });
  await signIn(page, apart.rootKey);
  await page.getByText("If the panel has its own listener, pages of plugins are on the other listener.").waitFor();
  expect(await page.getByRole("link", { name: "Open in a tab" }).getAttribute("href")).toBe("https://apps.example.org/board/");
  await expectAccessible(page);
  await page.context().close();
});
