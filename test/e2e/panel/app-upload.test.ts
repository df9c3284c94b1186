import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { buildZip } from "../../support/build-zip.js";
import { HeldWay } from "../../support/held-way.js";
import { packFiles } from "../../support/pack-files.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";
import { dropPaths } from "./drop-paths.js";
import { expectAccessible } from "./expect-accessible.js";
import { openPanelFixture, versionFiles as files, type PanelFixture } from "./panel-fixture.js";

let fixture: PanelFixture;

beforeAll(async () => {
  fixture = await openPanelFixture(files("shop", "1.0.0", "old shop"));
});

afterAll(async () => {
  await fixture.dispose();
  expect(fixture.browser.complaints).toEqual([]);
});

/** Writes an archive to the disk. */
async function archive(manifest: string, content: Record<string, string | Uint8Array> = { "index.html": "new" }): Promise<string> {
  const file = path.join(await temporaryDirectory(), "app.tgz");
  await writeFile(file, await packFiles({ "manifest.yaml": manifest, ...content }));
  return file;
}

const installed = async () => ((await fixture.ask("/api/workers")) as { name: string }[]).map(({ name }) => name);

test("shows a dropped archive and the version to replace, then installs the archive", async () => {
  const page = await fixture.open("apps");
  await page.getByRole("link", { name: "shop" }).waitFor();
  await dropPaths(page, [await archive('name: shop\nversion: "1.0.0"\n', { "index.html": "new shop" })]);
  const dialog = page.getByRole("dialog", { name: "Upload shop 1.0.0?" });
  await dialog.getByText("Replaces the installed version 1.0.0; 1.0.0 is active").waitFor();
  expect(await (await fetch(`${fixture.daemon.url}/shop/`)).text()).toContain("old shop");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Upload" }).click();
  const done = page.getByRole("dialog", { name: "shop 1.0.0 is installed" });
  await done.waitFor();
  await expectAccessible(page);
  expect(
    await (await fetch(new URL((await done.getByRole("link", { name: "/shop/" }).getAttribute("href")) ?? "", fixture.daemon.url))).text(),
  ).toContain("new shop");
  await page.goto(`${fixture.daemon.url}/cpanel/apps/shop`);
  await page.getByRole("navigation", { name: "Pages of shop" }).getByRole("link", { name: "Deployments" }).click();
  await page.getByText(/^just now \(.*\) by root, panel$/).waitFor();
});

test("packs a dropped folder by the same rules as runtimectl, without secret files", async () => {
  const folder = path.join(await temporaryDirectory(), "site");
  const long = `${"a-folder-with-a-long-name/".repeat(5)}page.html`;
  await writeTree(folder, {
    "manifest.yaml": 'name: site\nversion: "2.0.0"\n',
    "index.html": "the site",
    "assets/logo.txt": "logo",
    [long]: "far below",
    "draft.txt": "not yet",
    ".gitignore": "draft.txt\n",
    ".env": "SECRET=1",
    ".git/config": "[core]",
  });
  const page = await fixture.open("apps");
  await page.getByRole("link", { name: "shop" }).waitFor();
  await dropPaths(page, [folder]);
  const dialog = page.getByRole("dialog", { name: "Upload site 2.0.0?" });
  await dialog.getByText("A new app at /site/").waitFor();
  await dialog.getByText("3 entries excluded, as by runtimectl").click();
  await dialog.getByText("always excluded: .env*: can contain secrets").waitFor();
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Upload" }).click();
  await page.getByRole("dialog", { name: "site 2.0.0 is installed" }).getByRole("link", { name: "Show site" }).click();
  await page.getByText("Serving 2.0.0").waitFor();
  const answer = async (below: string) => (await fetch(`${fixture.daemon.url}/site/${below}`)).text();
  expect([await answer(""), await answer("assets/logo.txt"), await answer(long)].map((text) => text.slice(0, 9))).toEqual([
    "the site",
    "logo",
    "far below",
  ]);
  expect((await fetch(`${fixture.daemon.url}/site/draft.txt`)).status).toBe(404);
});

test("reads and installs a zip archive that the user selects with the keyboard", async () => {
  const file = path.join(await temporaryDirectory(), "zipped.zip");
  await writeFile(
    file,
    buildZip([
      { name: "manifest.yaml", content: 'name: zipped\nversion: "0.1.0"\n' },
      { name: "index.html", content: "zipped" },
    ]),
  );
  const page = await fixture.open("apps");
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Upload archive" }).press("Enter");
  await (await chooser).setFiles(file);
  await page.getByRole("dialog", { name: "Upload zipped 0.1.0?" }).getByRole("button", { name: "Upload" }).press("Enter");
  await page.getByRole("dialog", { name: "zipped 0.1.0 is installed" }).waitFor();
  expect(await installed()).toContain("zipped");
});

test("rejects an invalid archive before the upload, with the daemon's error code", async () => {
  const page = await fixture.open("apps");
  await page.getByRole("link", { name: "shop" }).waitFor();
  const before = await installed();
  let requests = 0;
  page.on("request", (request) => (requests += request.method() === "POST" ? 1 : 0));
  const directory = await temporaryDirectory();
  const broken = path.join(directory, "broken.tgz");
  await writeFile(broken, "no archive");
  const text = path.join(directory, "notes.txt");
  await writeFile(text, "no archive");
  const offers: [string, string][] = [
    [await archive("entrypoint: index.html\n"), "MISSING_PACKAGE_NAME"],
    [await archive("name: shop\nversion: 1.10\n"), "INVALID_PACKAGE_VERSION"],
    [broken, "INVALID_ARCHIVE"],
    [text, "INVALID_FILE_TYPE"],
  ];
  for (const [file, code] of offers) {
    await dropPaths(page, [file]);
    await page.getByRole("alert").getByText(code).waitFor();
    if (code === "INVALID_ARCHIVE") await expectAccessible(page);
    await page.getByRole("button", { name: "Close" }).click();
  }
  expect(requests).toBe(0);
  expect(await installed()).toEqual(before);
});

test("prevents an upload outside of the key's namespaces or without the permission", async () => {
  const page = await fixture.open("apps", { key: await fixture.key({ role: "editor", namespaces: ["@team"] }) });
  await page.getByText("No app is installed").waitFor();
  await expectAccessible(page);
  await dropPaths(page, [await archive('name: shop\nversion: "9.0.0"\n')]);
  await page.getByText("This key may install in @team only, and shop lies outside.").waitFor();
  expect(await page.getByRole("button", { name: "Upload", exact: true }).isDisabled()).toBe(true);
  await expectAccessible(page);
  const viewer = await fixture.open("apps", { key: await fixture.key({ role: "viewer" }) });
  await viewer.getByRole("link", { name: "shop" }).waitFor();
  expect(await viewer.getByRole("button", { name: /Upload/ }).count()).toBe(0);
  await dropPaths(viewer, [await archive('name: shop\nversion: "9.0.0"\n')]);
  await viewer.getByText("This key may not install apps").waitFor();
  await expectAccessible(viewer);
});

test("installs nothing when the user cancels an upload, and offers a repeated upload", async () => {
  const way = await HeldWay.to(fixture.daemon.url, 1024 * 1024);
  const page = await fixture.open("apps", { url: way.url });
  onTestFinished(async () => {
    await page.close();
    way.close();
  });
  await page.getByRole("link", { name: "shop" }).waitFor();
  const noise = new Uint8Array(3 * 1024 * 1024);
  for (let start = 0; start < noise.length; start += 65_536) crypto.getRandomValues(noise.subarray(start, start + 65_536));
  await dropPaths(page, [await archive('name: large\nversion: "1.0.0"\n', { "index.html": "large", "noise.bin": noise })]);
  await page.getByRole("dialog", { name: "Upload large 1.0.0?" }).getByRole("button", { name: "Upload" }).click();
  await page.getByRole("progressbar", { name: "Upload" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Cancel upload" }).click();
  await page.getByText("The upload was cancelled. Nothing was installed.").waitFor();
  await expectAccessible(page);
  expect(await installed()).not.toContain("large");
  way.open();
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  await page.getByRole("dialog", { name: "large 1.0.0 is installed" }).waitFor();
}, 60_000);

test("shows why uploaded code cannot be loaded, and installs nothing", async () => {
  const page = await fixture.open("apps", { provoked: [502] });
  await page.getByRole("link", { name: "shop" }).waitFor();
  const before = await fixture.ask("/api/workers");
  const code = { "index.js": 'import "./missing.js";\nexport default {};\n' };
  await dropPaths(page, [await archive('name: shop\nversion: "2.0.0"\nentrypoint: index.js\n', code)]);
  const dialog = page.getByRole("dialog", { name: "Upload shop 2.0.0?" });
  await dialog.getByRole("button", { name: "Upload" }).click();
  const alert = dialog.getByRole("alert");
  await alert
    .getByRole("group", { name: "Last log lines" })
    .getByText(/missing\.js/)
    .waitFor();
  await alert.getByText("WORKER_START_FAILED").waitFor();
  await expectAccessible(page);
  expect(await fixture.ask("/api/workers")).toEqual(before);
  expect((await fetch(`${fixture.daemon.url}/shop@2.0.0/`)).status).toBe(404);
  expect(await (await fetch(`${fixture.daemon.url}/shop/`)).text()).toContain("shop");
});

test("shows why the daemon rejects an upload, with the request ID and a retry button", async () => {
  const page = await fixture.open("apps", { provoked: [400] });
  await page.getByRole("link", { name: "shop" }).waitFor();
  await dropPaths(page, [await archive('name: cpanel\nversion: "1.0.0"\n')]);
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  await page
    .getByRole("alert")
    .getByText(/^[A-Z_]+ request \S+$/)
    .waitFor();
  await page.getByRole("button", { name: "Try again" }).waitFor();
  await expectAccessible(page);
});
