import { createHash } from "node:crypto";
import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { buildZip } from "../../support/build-zip.js";
import { HeldWay } from "../../support/held-way.js";
import { keys, type TerminalWindow } from "../../support/terminal-window.js";
import { writeTree } from "../../support/write-tree.js";
import { DashboardSession } from "./dashboard-session.js";

let session: DashboardSession;

/** Exceeds the buffers between client and daemon. */
const heavyBytes = 16 * 1024 * 1024;

beforeAll(async () => {
  session = await DashboardSession.open();
  await writeTree(session.shell.home, {
    "heavy/manifest.yaml": "name: heavy\nversion: 1.0.0\n",
    "heavy/index.html": "heavy",
    "heavy/data.bin": incompressible(heavyBytes),
  });
});

afterAll(() => session?.close());

/** Returns bytes that do not compress, the same in each run. */
function incompressible(sizeBytes: number): Buffer {
  const pieces = Array.from({ length: sizeBytes / 64 }, (_, index) => createHash("sha512").update(String(index)).digest());
  return Buffer.concat(pieces);
}

const statusOf = async (url: string) => (await fetch(session.daemon.url + url)).status;
const packedHere = async () => (await readdir(session.shell.home)).filter((name) => name.startsWith("runtimectl-"));

const spooled = () => readdir(path.join(session.daemon.directory, "state/spool"));

/** Opens the dashboard on a connection that transfers only 1 MB, and starts an upload of `heavy`. */
async function uploading(): Promise<{ way: HeldWay; window: TerminalWindow }> {
  const way = await HeldWay.to(session.daemon.url, 1024 * 1024);
  onTestFinished(() => way.close());
  const window = await session.tui(`--screen workers --url ${way.url} --key-file root.key`);
  await window.waitFor("u upload");
  window.press(`uheavy${keys.enter}`);
  await window.waitFor("enter uploads");
  window.press(keys.enter);
  await window.waitFor(/[#.]{20} [1-9]\d? % of 16\.0 MB/);
  return { way, window };
}

test("selects the uploaded version in the list after an upload", async () => {
  await writeTree(session.shell.home, { "zebra/manifest.yaml": "name: zebra\nversion: 1.0.0\n", "zebra/index.html": "zebra" });
  const window = await session.tui("--screen workers");
  await window.waitFor("> app");
  window.press(`uzebra${keys.enter}`);
  await window.waitFor("enter uploads");
  window.press(keys.enter);
  await window.waitFor("done: uploaded zebra 1.0.0");
  await window.waitFor(/> zebra +1\.0\.0/);
  window.press(keys.up);
  await window.waitFor("> app");
  await session.shell.run("workers delete zebra --yes");
});

test("shows the progress of an upload that stalls, continues and completes", async () => {
  const { way, window } = await uploading();
  window.press("qj:2");
  expect(await statusOf("/heavy/")).toBe(404);
  way.open();
  await window.waitFor("done: uploaded heavy 1.0.0");
  await window.waitFor(/heavy +1\.0\.0 +[–●] (?:idle|ok)/);
  expect(await statusOf("/heavy/")).toBe(200);
  await expect.poll(packedHere).toEqual([]);
  await session.shell.run("workers delete heavy --yes");
});

test("leaves no files on the daemon or the client when esc cancels an upload", async () => {
  const { way, window } = await uploading();
  window.press(keys.esc);
  await window.waitFor("cancelled; nothing was installed");
  way.open();
  await expect.poll(packedHere).toEqual([]);
  await expect.poll(spooled).toEqual([]);
  expect(await statusOf("/heavy/")).toBe(404);
  window.press("u");
  await window.waitFor("folder or archive to upload: ./");
});

test("offers to repeat an upload after the connection closes during the upload", async () => {
  const { way, window } = await uploading();
  way.close();
  await window.waitFor("folder or archive to upload: ./heavy");
  expect(await statusOf("/heavy/")).toBe(404);
  expect(await packedHere()).toEqual([]);
});

test("shows the files of a zip archive before the upload", async () => {
  const files = { "manifest.yaml": "name: zipped\nversion: 2.1.0\n", "index.html": "zip" };
  await writeFile(path.join(session.shell.home, "zipped.zip"), zipOf(files));
  const window = await session.tui("--screen workers", { columns: 100, rows: 30 });
  await window.waitFor("u upload");
  window.press(`uzip${keys.tab}${keys.enter}`);
  await window.waitFor("worker    zipped 2.1.0");
  await window.waitFor("a new worker at /zipped/");
  await window.waitFor(/packed +2 files, \d+ B/);
  expect(await statusOf("/zipped/")).toBe(404);
  window.press(keys.enter);
  await window.waitFor("done: uploaded zipped 2.1.0");
  expect(await statusOf("/zipped/")).toBe(200);
});

test("uploads an invalid zip archive, and shows why the daemon rejects the archive", async () => {
  await writeFile(path.join(session.shell.home, "torn.zip"), zipOf({ "manifest.yaml": "name: torn\n" }).subarray(0, 40));
  const window = await session.tui("--screen workers");
  await window.waitFor("u upload");
  window.press(`utorn.zip${keys.enter}`);
  await window.waitFor("the daemon reads its name");
  window.press(keys.enter);
  await window.waitFor("folder or archive to upload: ./torn.zip");
  expect(await statusOf("/torn/")).toBe(404);
});

function zipOf(files: Readonly<Record<string, string>>): Buffer {
  return buildZip(Object.entries(files).map(([name, content]) => ({ name, content })));
}
