import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { expectAccessible } from "./expect-accessible.js";
import { openPanelFixture, type PanelFixture } from "./panel-fixture.js";

// axe checks each state four times, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let fixture: PanelFixture;
let root: ReturnType<typeof connect>;

async function install(version: string, files: Record<string, string>, more = ""): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": manifestOf("shop", version, more), ...files });
  await root.workers.upload({ file: uploadOf("shop.tgz", archive), query: {} });
}

beforeAll(async () => {
  fixture = await openPanelFixture({});
  root = connect(fixture.daemon.url, fixture.daemon.rootKey);
  const deploy = `deploy: { digest: ${"a".repeat(64)}, at: 1, commit: 0123456789abcdef, message: Fix the cart, by: Anna }\n`;
  await install("1.0.0", { "index.html": "<p>one</p>\n<p>same</p>\n", "logo.svg": "<svg/>", "old/a.txt": "old\n" }, deploy);
  await install("1.1.0", { "index.html": "<p>two</p>\n<p>same</p>\n", "logo.svg": "<svg/>", "new.txt": "new\n" });
});

afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

const served = async () => (await fetch(`${fixture.daemon.url}/shop/`)).text();

test("lists the latest version first, with its principal, time, commit and message", async () => {
  const page = await fixture.open("apps/shop/deployments");
  const entries = page.getByRole("list", { name: "Versions of shop" }).getByRole("listitem");
  await entries.first().waitFor();
  expect(await entries.locator(".timeline-version").allInnerTexts()).toEqual([
    expect.stringMatching(/^1\.1\.0\s.*active$/s),
    expect.stringMatching(/^1\.0\.0\s.*enabled$/s),
  ]);
  const first = page.getByRole("listitem", { name: "1.0.0" });
  await first.getByText(/^just now \(.*\) by root, API$/).waitFor();
  await first.getByText("0123456").waitFor();
  await first.getByText("Fix the cart").waitFor();
  await expectAccessible(page);
});

test("compares a version's files and texts with the active version on demand", async () => {
  const page = await fixture.open("apps/shop/deployments");
  const downloads: string[] = [];
  page.on("request", (request) => request.url().includes("/files/download") && downloads.push(request.url()));
  const compare = page.getByRole("button", { name: "Compare with 1.1.0: 1.0.0" });
  await compare.waitFor();
  expect(downloads).toEqual([]);
  await compare.click();
  const files = page.getByRole("list", { name: "Different files" });
  await files.getByText("old/a.txt").waitFor();
  const listed = await files.locator("summary").allInnerTexts();
  expect(listed.map((text) => text.split(/\s+/).slice(1, 3))).toEqual([
    ["changed", "index.html"],
    ["changed", "manifest.yaml"],
    ["removed", "new.txt"],
    ["added", "old/a.txt"],
  ]);
  await page.getByText("1 file equal.").waitFor();
  await files.getByText("index.html").click();
  const lines = page.getByRole("region", { name: "Differences of index.html" }).getByRole("row");
  await lines.first().waitFor();
  expect((await lines.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim())).toEqual([
    "1 removed: − <p>two</p>",
    "1 added: + <p>one</p>",
    "2 2 <p>same</p>",
    "3 3",
  ]);
  await expectAccessible(page);
  await page.reload();
  await files.getByText("old/a.txt").waitFor();
});

test("reverts the activation of a version when the user clicks Undo", async () => {
  const page = await fixture.open("apps/shop/deployments");
  await page.getByRole("button", { name: "Activate shop 1.0.0" }).click();
  await page.getByText("shop 1.0.0 is active. 1.1.0 is disabled.").waitFor();
  expect(await served()).toContain("one");
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("button", { name: "Activate shop 1.0.0" }).waitFor();
  await expect.poll(served).toContain("two");
});

test("reports an action without a response as unknown until the user dismisses the message", async () => {
  const page = await fixture.open("apps/shop/deployments", { provoked: [/ERR_FAILED/] });
  await page.route("**/api/workers/_/shop/1.0.0/disable", (route) => route.abort());
  await page.getByRole("button", { name: "Disable shop 1.0.0" }).click();
  const message = page.getByText("The daemon did not respond, and has possibly carried out the request.");
  await message.waitFor();
  await page.getByText("The daemon does not respond.").waitFor({ state: "hidden" });
  expect(await page.getByRole("alert").innerText()).not.toContain("failed");
  await expectAccessible(page);
  await page.getByRole("alert").getByRole("button", { name: "Dismiss" }).click();
  await message.waitFor({ state: "detached" });
  expect(await page.evaluate("document.activeElement.id")).toBe("main");
});

test("deletes a version after the user types its name", async () => {
  const page = await fixture.open("apps/shop/deployments");
  await page.getByRole("button", { name: "Delete shop 1.0.0" }).click();
  await page.getByRole("alertdialog").getByRole("textbox").fill("shop@1.0.0");
  await page.getByRole("button", { name: "Delete version" }).click();
  await page.getByRole("listitem", { name: "1.0.0" }).waitFor({ state: "detached" });
  expect((await fetch(`${fixture.daemon.url}/shop@1.0.0/`)).status).toBe(404);
});

test("names the permission that a read-only key lacks", async () => {
  const page = await fixture.open("apps/shop/deployments", { key: await fixture.key({ role: "viewer" }) });
  await page.getByText("workers:install").waitFor();
  expect(await page.getByRole("button", { name: /^(Activate|Disable|Restart|Delete)/ }).count()).toBe(0);
  await expectAccessible(page);
});
