import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keys } from "../../support/terminal-window.js";
import { writeTree } from "../../support/write-tree.js";
import { DashboardSession } from "./dashboard-session.js";

let session: DashboardSession;

const module = (body: string) => `export default { fetch: (request) => { ${body} } };\n`;
const manifest = (name: string, version: string, more = "") => `name: ${name}\nversion: ${version}\n${more}`;
const cron = 'cron:\n  - schedule: "0 0 1 1 *"\n    endpoint: /tick\n';

beforeAll(async () => {
  session = await DashboardSession.open();
  await writeTree(session.shell.home, {
    "orders-1/manifest.yaml": manifest("orders", "1.0.0"),
    "orders-1/index.js": module("return new Response('1');"),
    "orders-2/manifest.yaml": manifest("orders", "1.1.0"),
    "orders-2/index.js": module("throw new TypeError('rows is undefined');"),
    "broken-1/manifest.yaml": manifest("broken", "1.0.0"),
    "broken-1/index.js": module("return new Response('1');"),
    "broken-2/manifest.yaml": manifest("broken", "1.1.0"),
    "broken-2/index.js": `import "./missing.js";\n${module("return new Response('2');")}`,
    "report/manifest.yaml": manifest("report", "1.0.0", cron),
    "report/index.js": module("return new Response('x', { status: request.url.endsWith('tick') ? 500 : 200 });"),
  });
  await writeTree(path.join(session.daemon.directory, "plugins/lamp"), {
    "manifest.yaml": "name: lamp\nversion: 1.0.0\n",
    "plugin.js": "export default { onRequest( };\n",
  });
  const uploads = ["orders-1", "orders-2", "broken-1", "broken-2", "report"].map((folder) => `workers upload ${folder}`);
  for (const words of [...uploads, "plugins reload", "keys create --role viewer --name ci --expires 5d --out ci.key"])
    await session.shell.run(words);
  for (let request = 0; request < 8; request++) await statusOf("/orders/");
  await statusOf("/broken/");
  await session.shell.run("cron run report 0");
});

afterAll(() => session?.close());

const statusOf = async (url: string) => (await fetch(session.daemon.url + url)).status;

/** Incidents with the subject and the cause that the overview shows without a key press. */
const incidents = [
  ["an app that only responds with 500", "orders 1.1.0", /rows is undefined \(index\.js:1\)/],
  ["an app that cannot start", "broken 1.1.0", /Cannot find module 'missing\.js'/],
  ["a failed cron job", "report 1.0.0", /The cron job 0 0 1 1 \* POST \/tick failed|of requests failed/],
  ["a plugin with a typo", "plugin lamp", /plugin\.js:1:\d+/],
  ["a key that expires soon", "key ci", /The key expires in [45] days/],
] as const;

test.each(incidents)("shows the cause of %s on the overview without a key press", async (_what, title, cause) => {
  const window = await session.tui("", { columns: 140, rows: 45 });
  await window.waitFor("incidents");
  await window.waitFor(title);
  await window.waitFor(cause);
});

test("opens the log of the selected app with one key press on the overview", async () => {
  const window = await session.tui("", { columns: 140, rows: 45 });
  await window.waitFor("orders 1.1.0");
  window.press(`/orders${keys.enter}`);
  await window.waitFor("> orders 1.1.0");
  await window.waitFor("l logs");
  window.press("l");
  await window.waitFor("[6 Logs]");
  await window.waitFor("rows is undefined");
});

test.each([
  ["orders", "1"],
  ["broken", "1"],
])("rolls back the app %s with one key press on the overview and ends the incident", async (name, text) => {
  const window = await session.tui("", { columns: 140, rows: 45 });
  await window.waitFor(`${name} 1.1.0`);
  window.press(`/${name}${keys.enter}`);
  await window.waitFor(`> ${name} 1.1.0`);
  await window.waitFor("R rollback");
  window.press("R");
  await window.waitFor(`done: ${name}: 1.0.0`);
  expect(await (await fetch(`${session.daemon.url}/${name}/`)).text()).toBe(text);
  window.press(keys.esc);
  await window.waitFor("incidents");
  await expect.poll(() => window.text(), { timeout: 15_000 }).not.toMatch(new RegExp(`^[> ] ${name} 1`, "m"));
});

test("opens a plugin that failed to load when enter is pressed on the overview", async () => {
  const window = await session.tui("", { columns: 140, rows: 45 });
  await window.waitFor("plugin lamp");
  window.press(`/lamp${keys.enter}`);
  await window.waitFor("> plugin lamp");
  window.press(keys.enter);
  await window.waitFor("[3 Plugins]");
});
