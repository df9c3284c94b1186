import { readdir } from "node:fs/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { keys } from "../../support/terminal-window.js";
import { writeTree } from "../../support/write-tree.js";
import { DashboardSession } from "./dashboard-session.js";
import { steadyText } from "./steady-text.js";

let session: DashboardSession;

const source = (text: string) =>
  `export default { fetch: (request) => { console.log("asked for " + new URL(request.url).pathname); return new Response("${text}"); } };`;

beforeAll(async () => {
  session = await DashboardSession.open();
  await writeTree(session.shell.home, {
    "next/manifest.yaml": "name: app\nversion: 1.1.0\naccessLog: false\n",
    "next/index.js": source("next"),
    "shop/manifest.yaml": 'name: "@team/shop"\nversion: 2.0.0\n',
    "shop/index.js": source("shop"),
    "shady/readme.txt": "no manifest here",
  });
});

/** Ensures that the worker `app` has two enabled versions. */
beforeEach(async () => {
  for (const words of ["workers upload app", "workers upload next", "workers enable app@1.0.0", "workers enable app@1.1.0"]) {
    const run = await session.shell.run(words);
    if (run.status !== 0) throw new Error(run.stderr);
  }
});

afterAll(() => session?.close());

const get = (url: string) => fetch(session.daemon.url + url);
const statusOf = async (url: string) => (await get(url)).status;
const textOf = async (url: string) => (await get(url)).text();

/** Compressed sizes depend on the machine's zlib, times and rates on the run. */
const steady = (text: string) =>
  steadyText(text)
    .replace(/\d\d:\d\d:\d\d\.\d{3}/g, "00:00:00.000")
    .replace(/\d+\.\d\d\/s/g, (found) => "0.00/s".padEnd(found.length))
    .replace(/(REQ\/S[\s\S]*)/, (list) =>
      list.replace(/( (?:enabled|ok|idle) +(?:active +)?)\d\.\d\d/g, "$10.00").replace(/[▁-█]{2,}/g, (line) => " ".repeat(line.length)),
    )
    .replace(/\d+\.\d MB/g, (found) => "10.0 MB".padEnd(found.length))
    .replace(/p50.*?p99 [\d.]+ ms/g, "p50 1.00 ms · p90 1.00 ms · p99 1.00 ms")
    .replace(/\d+ running · [\d.]+ MB · [\d.]+ s CPU/g, "1 running · 10.0 MB · 0.0 s CPU");

test.each([
  [60, 15],
  [80, 24],
  [140, 45],
])("shows state, load and last log lines of a version in a terminal of %dx%d", async (columns, rows) => {
  expect(await statusOf("/app/hello")).toBe(200);
  const window = await session.tui("--screen workers", { columns, rows });
  await window.waitFor(/app +1\.1\.0 +[–●] (?:idle|ok)/);
  await window.waitFor("as root (admin)");
  if (columns < 80) window.press(keys.enter);
  await window.waitFor("1.1.0 active");
  await window.waitFor("asked for /hello");
  await window.waitFor(/requests +\d\.\d\d\/s · \d+ total/);
  await window.waitFor("ready");
  const shown = steady(window.text()).replace(/(\/s) +· \d+ total/, "$1 · 1 total");
  await expect(onlyLastLogLine(shown)).toMatchFileSnapshot(`screens/worker-detail-${columns}x${rows}.txt`);
});

/** Earlier log lines depend on the tests that ran before. */
function onlyLastLogLine(text: string): string {
  const lines = text.split("\n");
  const last = lines.findLastIndex((line) => line.includes("00:00:00.000"));
  return lines.filter((line, index) => index === last || !line.includes("00:00:00.000")).join("\n");
}

test("disables a version, and undo enables it", async () => {
  const window = await session.tui("--screen workers");
  await window.waitFor(/app +1\.1\.0 +[–●] (?:idle|ok)/);
  await window.waitFor("e on/off");
  window.press("e");
  await window.waitFor("done: app 1.1.0 is disabled");
  await window.waitFor(/app +1\.1\.0 +○ disabled/);
  expect(await textOf("/app/")).toBe("app");
  window.press("U");
  await window.waitFor("done: app 1.1.0 is enabled");
  expect(await textOf("/app/")).toBe("next");
  window.press("q");
  expect(await window.ended).toBe(0);
});

test("asks the user before it disables the only enabled version of a worker", async () => {
  expect((await session.shell.run("workers disable app@1.0.0")).status).toBe(0);
  const window = await session.tui("--screen workers");
  await window.waitFor(/app +1\.1\.0 +[–●] (?:idle|ok)/);
  await window.waitFor("e on/off");
  window.press("e");
  await window.waitFor("Disable app 1.1.0, its only enabled version; /app/ will respond with 404");
  window.press("n");
  await window.waitFor("nothing changed");
  expect(await textOf("/app/")).toBe("next");
  window.press("e");
  await window.waitFor("y/N");
  window.press("y");
  await window.waitFor("done: app 1.1.0 is disabled");
  expect(await statusOf("/app/")).toBe(404);
});

test("rolls back to the previous version, and undo reverts the rollback", async () => {
  const window = await session.tui("--screen workers");
  await window.waitFor("R rollback");
  window.press("R");
  await window.waitFor(/done: app: 1\.0\.0/);
  expect(await textOf("/app/")).toBe("app");
  window.press("U");
  await window.waitFor("done: app: 1.1.0 is the active version again");
  expect(await textOf("/app/")).toBe("next");
});

test("starts new isolates when the user restarts a version", async () => {
  expect(await textOf("/app/")).toBe("next");
  const window = await session.tui("--screen workers", { columns: 140, rows: 45 });
  await window.waitFor("t restart");
  window.press("t");
  await window.waitFor(/done: app 1\.1\.0 restarted; 1 isolate replaced/);
  expect(await textOf("/app/")).toBe("next");
});

test("deletes a version after y is pressed, and keeps the version after enter", async () => {
  const window = await session.tui("--screen workers");
  await window.waitFor("d delete");
  window.press("d");
  await window.waitFor("Delete 1 version of app, 1.1.0; 1 version will remain");
  window.press(keys.enter);
  await window.waitFor("nothing changed");
  expect(await textOf("/app@1.1.0/")).toBe("next");
  window.press("d");
  await window.waitFor("y/N");
  window.press("y");
  await window.waitFor("done: app 1.1.0 deleted");
  expect(await statusOf("/app@1.1.0/")).toBe(404);
  expect(await textOf("/app/")).toBe("app");
});

test("deletes a whole worker only after the user types its name", async () => {
  const window = await session.tui("--screen workers", { columns: 140, rows: 45 });
  await window.waitFor("D delete all");
  window.press("D");
  await window.waitFor("Delete app, all versions (2); /app/ will respond with 404");
  window.press(`other${keys.enter}`);
  await window.waitFor("The name does not match");
  window.press(keys.esc);
  await window.waitFor("nothing changed");
  expect(await textOf("/app/")).toBe("next");
  window.press("D");
  await window.waitFor("Type app to confirm");
  window.press(`app${keys.enter}`);
  await window.waitFor("done: app and its uploaded versions deleted");
  await window.waitFor("no workers; press u to upload a folder");
  expect(await statusOf("/app/")).toBe(404);
});

test("completes the path of an upload, shows a preview, and uploads after confirmation", async () => {
  const window = await session.tui("--screen workers", { columns: 100, rows: 30 });
  await window.waitFor("u upload");
  window.press("u");
  await window.waitFor("folder or archive to upload: ./");
  window.press(`sho${keys.tab}`);
  await window.waitFor("./shop/");
  window.press(keys.enter);
  await window.waitFor("worker    @team/shop 2.0.0");
  await window.waitFor("a new worker at /@team/shop/");
  await window.waitFor("runtimectl workers upload ./shop/");
  window.press("n");
  await window.waitFor("cancelled; nothing was uploaded");
  expect(await statusOf("/@team/shop/")).toBe(404);
  window.press(`ushop${keys.enter}`);
  await window.waitFor("enter uploads");
  window.press(keys.enter);
  await window.waitFor(`done: uploaded @team/shop 2.0.0: ${session.daemon.url}/@team/shop/`);
  expect(await textOf("/@team/shop/")).toBe("shop");
  await window.waitFor(/@team\/shop +2\.0\.0 +[–●] (?:idle|ok)/);
  window.press(`unext${keys.enter}`);
  await window.waitFor("replaces the installed 1.1.0; 1.1.0 is the active version");
  window.press(keys.esc);
  await session.shell.run("workers delete @team/shop --yes");
});

test("shows why a folder cannot be uploaded, and keeps the path for correction", async () => {
  const window = await session.tui("--screen workers");
  await window.waitFor("u upload");
  window.press(`ushady${keys.enter}`);
  await window.waitFor("has nothing to deploy");
  await window.waitFor("folder or archive to upload: ./shady");
  window.press(`${keys.esc}q`);
  expect(await window.ended).toBe(0);
});

test("shows and copies the URL of a worker, and shows equivalent commands", async () => {
  const window = await session.tui("--screen workers", { columns: 140, rows: 45 });
  await window.waitFor("o open");
  window.press("o");
  await window.waitFor(`note: ${session.daemon.url}/app/`);
  window.press("y");
  await window.waitFor("copied, if the terminal allows");
  const sequence = `\u001b]52;c;${Buffer.from(`${session.daemon.url}/app/`).toString("base64")}\u0007`;
  expect(window.written()).toContain(sequence);
  window.press("x");
  await window.waitFor("runtimectl workers show app");
  for (const line of ["disable app@1.1.0", "rollback app", "restart app@1.1.0", "delete app@1.1.0", "delete app", "upload ./dir"])
    expect(window.text()).toContain(`runtimectl workers ${line}`);
});

test("names the missing permissions of a read-only API key, and changes nothing", async () => {
  const made = await session.shell.run("keys create --role viewer --name looker --out looker.key");
  if (made.status !== 0) throw new Error(made.stderr);
  const window = await session.tui(`--screen workers --url ${session.daemon.url} --key-file looker.key`, { columns: 170, rows: 45 });
  await window.waitFor("does not have workers:install, workers:restart, workers:remove");
  expect(window.text()).not.toMatch(/e on\/off|u upload|d delete/);
  window.press("e");
  await window.waitFor("note: your key does not have the required permission workers:install");
  window.press("d");
  await window.waitFor("note: your key does not have the required permission workers:remove");
  window.press("u");
  await window.waitFor("note: your key does not have the required permission workers:install");
  window.press("?");
  await window.waitFor("Available keys");
  expect(window.text()).not.toMatch(/on\/off|upload|delete|rollback/);
  expect(await textOf("/app/")).toBe("next");
});

test("asks for the profile name before a deletion on a production profile", async () => {
  await session.shell.run(`profile add prod --url ${session.daemon.url} --production`);
  const window = await session.tui(`--screen workers --profile prod --key-file root.key`);
  await window.waitFor("PRODUCTION");
  await window.waitFor("d delete");
  window.press("d");
  await window.waitFor("Type the profile name (prod) to confirm");
  window.press(`app${keys.enter}`);
  await window.waitFor("The name does not match");
  expect(await textOf("/app@1.1.0/")).toBe("next");
  window.press(`${keys.esc}d`);
  await window.waitFor("Type the profile name (prod) to confirm");
  window.press(`prod${keys.enter}`);
  await window.waitFor("done: app 1.1.0 deleted");
  expect(await statusOf("/app@1.1.0/")).toBe(404);
});

test("shows a hint when no version matches the filter, and all versions after esc", async () => {
  const window = await session.tui("--screen workers");
  await window.waitFor(/app +1\.1\.0 +[–●] (?:idle|ok)/);
  window.press(`/zzz${keys.enter}`);
  await window.waitFor("no matches; esc clears the filter");
  window.press(keys.esc);
  await window.waitFor(/app +1\.1\.0 +[–●] (?:idle|ok)/);
});

test("deletes the packed archive of an upload when the dashboard exits", async () => {
  const window = await session.tui("--screen workers");
  await window.waitFor("u upload");
  window.press(`unext${keys.enter}`);
  await window.waitFor("enter uploads");
  expect((await readdir(session.shell.home)).filter((name) => name.startsWith("runtimectl-"))).toHaveLength(1);
  window.press(keys.ctrlC);
  await window.ended;
  expect((await readdir(session.shell.home)).filter((name) => name.startsWith("runtimectl-"))).toEqual([]);
});
