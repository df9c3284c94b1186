import { expect, test } from "vitest";
import { listedWorker, WireAnswer } from "../../support/fake-daemon.js";
import { FakeStream } from "../../support/fake-transport.js";
import { renderDashboard, unreachable, type DashboardSetup } from "../../support/render-dashboard.js";
import { keys } from "../../support/terminal-window.js";
import { listedInstance } from "./sample-data.js";

const logEntry = (id: number, text: string, worker = "talker") => ({
  id,
  time: 1_750_000_000_000 + id,
  worker,
  version: "1.0.0",
  level: "info",
  source: "app",
  text,
});

/** Opens the logs screen of the worker `talker`, which has logged these lines. */
async function openLogs(lines: readonly string[], setup: DashboardSetup = {}) {
  const stream = new FakeStream(lines.map((text, index) => logEntry(index + 1, text)));
  const answers = { "/api/workers": [listedWorker("talker")], "/api/workers/_/talker/logs": stream };
  const dashboard = await renderDashboard(answers, { screen: "logs", ...setup });
  await dashboard.waitFor(lines.length === 0 ? "talker · live" : (lines.at(-1)?.slice(0, 10) ?? ""));
  let id = lines.length;
  return { dashboard, stream, write: (text: string) => stream.send(logEntry((id += 1), text)) };
}

test("the dashboard shows new log lines immediately", async () => {
  const { dashboard, write } = await openLogs(["first order"]);
  write("second order");
  await dashboard.waitFor("second order");
  expect(dashboard.text()).toContain("talker · live · 2 lines");
});

test("the dashboard shows a hint when the log is empty", async () => {
  const { dashboard } = await openLogs([]);
  await dashboard.waitFor("no entries yet; new entries of talker appear here");
});

test("the dashboard filters log lines; n and N select the next and previous match", async () => {
  const { dashboard } = await openLogs(["order one", "payment", "order two"]);
  dashboard.press(`/order${keys.enter}`);
  await dashboard.waitFor("2 lines · filter: order");
  expect(dashboard.text()).not.toContain("payment");
  dashboard.press(keys.esc);
  await dashboard.waitFor("3 lines · search: order");
  dashboard.press("N");
  await dashboard.waitFor(/^> .*order one/m);
  dashboard.press("N");
  await dashboard.waitFor("note: no previous match");
  dashboard.press("n");
  await dashboard.waitFor(/^> .*order two/m);
});

test("the dashboard counts new log lines without showing them while the log is paused", async () => {
  const { dashboard, write } = await openLogs(["before"]);
  dashboard.press("p");
  await dashboard.waitFor("paused, 0 new lines");
  write("during the pause");
  await dashboard.waitFor("paused, 1 new line");
  expect(dashboard.text()).not.toContain("during the pause");
  dashboard.press("p");
  await dashboard.waitFor("during the pause");
});

test("the dashboard keeps the selected log line in place until G is pressed", async () => {
  const { dashboard, write } = await openLogs(Array.from({ length: 40 }, (_, index) => `line ${index} of many`));
  dashboard.press("g");
  await dashboard.waitFor(/^> .*line 0 of many/m);
  write("a new line");
  await dashboard.waitFor("41 lines");
  expect(dashboard.text()).not.toContain("a new line");
  dashboard.press("G");
  await dashboard.waitFor(/^> .*a new line/m);
});

test("the dashboard wraps log lines when w is pressed, and hides times after T", async () => {
  const { dashboard } = await openLogs([`${"long ".repeat(30)}END`]);
  expect(dashboard.text()).not.toContain("END");
  dashboard.press("w");
  await dashboard.waitFor("END");
  expect(dashboard.text()).toMatch(/\d\d:\d\d:\d\d\.\d{3} info/);
  dashboard.press("T");
  await dashboard.waitFor(() => !/\d\d:\d\d:\d\d\.\d{3} info/.test(dashboard.text()));
});

test("the dashboard shows where log lines are missing after a lost connection", async () => {
  const { dashboard, stream, write } = await openLogs(["before"], { columns: 140 });
  stream.fail(unreachable());
  await dashboard.waitFor("connection lost, reconnecting");
  await dashboard.waitFor("lines may be missing ---");
  await expect.poll(() => stream.readerCount).toBe(1);
  write("after");
  await dashboard.waitFor("after");
});

test("the dashboard shows a selected worker's log, or an error for an unknown worker", async () => {
  const [loud, quiet] = [logEntry(1, "from loud", "loud"), logEntry(2, "from quiet", "quiet")];
  const all = new FakeStream([loud, quiet, logEntry(3, "from a built-in worker", "cpanel")]);
  const answers = {
    "/api/workers": [listedWorker("loud"), listedWorker("quiet")],
    "/api/logs": all,
    "/api/workers/_/quiet/logs": new FakeStream([quiet]),
  };
  const dashboard = await renderDashboard(answers, { screen: "logs" });
  await dashboard.waitFor("from loud");
  await dashboard.waitFor("from quiet");
  expect(dashboard.text()).toContain("2 workers · live · 2 lines");
  expect(all.readerCount).toBe(1);
  dashboard.press("f");
  await dashboard.waitFor("tab: loud · quiet");
  dashboard.press(`nobody${keys.enter}`);
  await dashboard.waitFor("note: no worker named nobody is installed");
  dashboard.press(`fq${keys.tab}${keys.enter}`);
  await dashboard.waitFor("quiet · live");
  await expect.poll(() => all.readerCount).toBe(0);
  expect(dashboard.text()).not.toContain("from loud");
});

test("the dashboard shows the reason why the daemon does not send a log", async () => {
  const refused = WireAnswer.refusal(403, "NAMESPACE_DENIED", "The key is not for this namespace.");
  const answers = { "/api/workers": [listedWorker("talker")], "/api/workers/_/talker/logs": refused };
  const dashboard = await renderDashboard(answers, { screen: "logs" });
  await dashboard.waitFor("cannot load the log: The key is not for this namespace.");
});

test("the dashboard escapes control characters in log lines", async () => {
  const { dashboard } = await openLogs(["a title of \u001b]0;owned\u0007"]);
  await dashboard.waitFor(String.raw`\x1b]0;owned\x07`);
  expect(dashboard.screen.written()).not.toContain("\u001b]0;owned");
});

test("the dashboard shows the instance of each log line, and filters by instance", async () => {
  const lines = [
    { ...logEntry(1, "first order"), instance: "eu-1" },
    { ...logEntry(1, "second order"), time: 1_750_000_000_002, instance: "eu-2" },
  ];
  const answers = {
    "/api/workers": [listedWorker("talker")],
    "/api/workers/_/talker/logs": new FakeStream(lines),
    "/api/instances": [listedInstance("eu-1", { isSelf: true }), listedInstance("eu-2")],
  };
  const dashboard = await renderDashboard(answers, { screen: "logs" });
  await dashboard.waitFor(/info {2}eu-1 +first order\s*\n.* info {2}eu-2 +second order/);
  dashboard.press(`/eu-2${keys.enter}`);
  await dashboard.waitFor("1 line · filter: eu-2");
  expect(dashboard.text()).not.toContain("first order");
});

test("the dashboard shows the worker version of each log line on a wide terminal", async () => {
  const all = new FakeStream([logEntry(1, "from talker"), logEntry(2, "from other", "other")]);
  const answers = {
    "/api/workers": [listedWorker("talker", ["1.0.0", "2.0.0"]), listedWorker("other")],
    "/api/logs": all,
  };
  const dashboard = await renderDashboard(answers, { screen: "logs", columns: 100 });
  await dashboard.waitFor(/info {2}talker +1\.0\.0 +from talker/);
  dashboard.resize(80, 24);
  await dashboard.waitFor(/info {2}talker +from talker/);
});
