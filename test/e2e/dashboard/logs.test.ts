import { afterAll, beforeAll, expect, test } from "vitest";
import { startDaemon } from "../../support/start-daemon.js";
import { keys } from "../../support/terminal-window.js";
import { writeTree } from "../../support/write-tree.js";
import { DashboardSession } from "./dashboard-session.js";
import { steadyText } from "./steady-text.js";

let session: DashboardSession;

/** Logs the text of the request. */
const writer = `export default { fetch: (request) => {
  const { searchParams } = new URL(request.url);
  console[searchParams.get("level") ?? "log"](searchParams.get("text"));
  return new Response("written");
} };`;

beforeAll(async () => {
  session = await DashboardSession.open();
  await writeTree(session.shell.home, {
    "talker/manifest.yaml": "name: talker\nversion: 1.0.0\naccessLog: false\n",
    "talker/index.js": writer,
    "other/manifest.yaml": "name: other\nversion: 1.0.0\naccessLog: false\n",
    "other/index.js": writer,
    "shots/manifest.yaml": "name: shots\nversion: 1.0.0\n",
    "shots/index.js": writer,
  });
  for (const name of ["talker", "other", "shots"]) await session.shell.run(`workers upload ${name}`);
});

afterAll(() => session?.close());

const say = async (name: string, text: string, level = "log") => {
  const answer = await fetch(`${session.daemon.url}/${name}/?level=${level}&text=${encodeURIComponent(text)}`);
  expect(await answer.text()).toBe("written");
};

/** Opens the Logs screen and selects one worker. */
async function openLogs(name: string, size: { columns: number; rows: number }) {
  const window = await session.tui("--screen logs", size);
  await window.waitFor("f follow");
  window.press(`f${name.slice(0, 3)}${keys.tab}${keys.enter}`);
  await window.waitFor(`${name} · live`);
  return window;
}

const steady = (text: string) =>
  steadyText(text)
    .replace(/\d\d:\d\d:\d\d\.\d{3}/g, "00:00:00.000")
    .replace(/Started in \d+ ms/g, "Started in 1 ms")
    .replace(/(GET \S+ \d{3}) [\d.]+ ms/g, "$1 1 ms");

test("shows and filters new log lines; n and N select the next and previous match", async () => {
  await say("talker", "first order");
  const window = await openLogs("talker", { columns: 100, rows: 24 });
  await window.waitFor("first order");
  await say("talker", "second payment");
  await say("talker", "third order", "error");
  await window.waitFor(/error third order/);
  window.press(`/order${keys.enter}`);
  await window.waitFor("filter: order");
  expect(window.text()).not.toContain("second payment");
  await say("talker", "fourth payment");
  await say("talker", "fifth order");
  await window.waitFor("fifth order");
  expect(window.text()).not.toContain("fourth payment");
  window.press(keys.esc);
  await window.waitFor("search: order");
  await window.waitFor("fourth payment");
  window.press("N");
  await window.waitFor(/^> .*third order/m);
  window.press("N");
  await window.waitFor(/^> .*first order/m);
  window.press("n");
  await window.waitFor(/^> .*third order/m);
  window.press("y");
  await window.waitFor("line copied, if the terminal allows");
  expect(window.written()).toContain(`\u001b]52;c;${Buffer.from("third order").toString("base64")}\u0007`);
  window.press("/zzz");
  await window.waitFor("no matches");
});

test("counts new log lines without showing them while the log is paused", async () => {
  await say("talker", "before the pause");
  const window = await openLogs("talker", { columns: 100, rows: 24 });
  await window.waitFor("before the pause");
  window.press("p");
  await window.waitFor("paused, 0 new lines");
  await say("talker", "during\nthe pause");
  await window.waitFor("paused, 2 new lines");
  expect(window.text()).not.toContain("during");
  window.press("p");
  await window.waitFor("during");
  expect(window.text()).not.toContain("paused");
});

test("keeps the scroll position when new log lines arrive, until G is pressed", async () => {
  for (let index = 0; index < 40; index += 1) await say("talker", `line ${index} of many`);
  const window = await openLogs("talker", { columns: 100, rows: 20 });
  await window.waitFor("line 39 of many");
  window.press(keys.pageUp);
  await window.waitFor(/^> .*line (?!39)\d+ of many/m);
  const read = /^> .*$/m.exec(window.text())?.[0];
  await say("talker", "something new");
  window.press("p");
  await window.waitFor("paused");
  expect(window.text()).toContain(read);
  expect(window.text()).not.toContain("something new");
  window.press("pG");
  await window.waitFor(/^> .*something new/m);
});

test("wraps long log lines when w is pressed, and hides times when T is pressed", async () => {
  await say("talker", `${"long ".repeat(30)}END`);
  const window = await openLogs("talker", { columns: 80, rows: 24 });
  await window.waitFor(/long long/);
  expect(window.text()).not.toContain("END");
  window.press("w");
  await window.waitFor("END");
  expect(window.text()).toMatch(/\d\d:\d\d:\d\d\.\d{3} info/);
  window.press("T");
  await window.waitFor(() => !/\d\d:\d\d:\d\d\.\d{3} info/.test(window.text()));
});

test("escapes control characters in log lines", async () => {
  const window = await openLogs("talker", { columns: 100, rows: 24 });
  await say("talker", "\u001b[2J\u001b]0;owned\u0007 harmless");
  await window.waitFor("\\x1b]0;owned\\x07 harmless");
  expect(window.written()).not.toContain("\u001b]0;owned");
  expect(window.text()).toContain("[6 Logs]");
});

test("shows log lines of all workers in chronological order by default", async () => {
  await say("talker", "one of talker");
  await say("other", "two of other");
  await say("talker", "three of talker");
  const window = await session.tui("--screen logs", { columns: 100, rows: 24 });
  await window.waitFor(/4 workers · live/);
  await window.waitFor("three of talker");
  const lines = window.text().split("\n");
  const places = ["one of talker", "two of other", "three of talker"].map((text) => lines.findIndex((line) => line.includes(text)));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(lines[places[1] ?? -1]).toMatch(/other +two of other/);
  await say("other", "live of other");
  await window.waitFor("live of other");
  window.press("x");
  await window.waitFor("runtimectl workers logs -f");
});

test("opens the log of a worker after l is pressed, and shows a hint for an empty log", async () => {
  const window = await session.tui("--screen workers");
  await window.waitFor("l logs");
  window.press("l");
  await window.waitFor("app · live");
  await window.waitFor("no entries yet; new entries of app appear here");
});

let shots = 0;

test.each([
  [60, 15],
  [80, 24],
  [140, 45],
])("shows one row per log line in a terminal of %dx%d", async (columns, rows) => {
  // Each size adds the same two lines; the screen is compared once all of them are shown.
  await say("shots", "an order\n  of two lines");
  await say("shots", "an error", "error");
  shots += 1;
  const window = await openLogs("shots", { columns, rows });
  await window.waitFor(() => window.text().split("an error").length > shots);
  await window.waitFor("as root (admin)");
  await window.waitFor("ready");
  await expect(steady(await window.settledText()).replace(/\d+ lines/, "9 lines")).toMatchFileSnapshot(
    `screens/logs-${columns}x${rows}.txt`,
  );
});

test("switches between console output, requests and all log lines when s is pressed", async () => {
  await say("shots", "an error", "error");
  const window = await openLogs("shots", { columns: 100, rows: 24 });
  await window.waitFor("an error");
  await window.waitFor(/GET \/shots\/ 200/);
  window.press("v");
  await window.waitFor("only output");
  expect(window.text()).not.toContain("GET /shots/");
  window.press("v");
  await window.waitFor("only requests");
  expect(window.text()).not.toContain("an error");
  expect(window.text()).toContain("GET /shots/ 200");
  window.press("v");
  await window.waitFor("an error");
});

test("after a daemon restart, marks missing log lines and continues the log", async () => {
  const first = await startDaemon();
  const { directory } = first;
  const port = new URL(first.url).port;
  const home = session.shell;
  await writeTree(home.home, { "second.key": first.rootKey });
  const at = `--url ${first.url} --key-file second.key`;
  await home.run(`workers upload talker ${at}`);
  await fetch(`${first.url}/talker/?text=before`);
  const window = await session.tui(`--screen logs ${at}`, { columns: 120, rows: 24 });
  await window.waitFor(/info +before/);
  await first.stop();
  await window.waitFor("connection lost, reconnecting");
  expect(window.text()).toContain("before");
  const second = await startDaemon({ directory, env: { PORT: port } });
  try {
    await window.waitFor(/--- connection lost .*, restored .*: lines may be missing ---/);
    await fetch(`${second.url}/talker/?text=after`);
    await window.waitFor(/info +after/);
  } finally {
    await second.dispose();
  }
}, 60_000);
