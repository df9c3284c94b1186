import { expect, test } from "vitest";
import { listedWorker } from "../../support/fake-daemon.js";
import { renderDashboard } from "../../support/render-dashboard.js";
import { keys } from "../../support/terminal-window.js";

const shops = {
  "/api/workers": [
    { ...listedWorker("@team/shop", ["1.4.2", "1.4.1"]), disabledVersions: ["1.4.1"] },
    { ...listedWorker("hello", ["latest"]), source: "built-in", removable: false },
    listedWorker("todos", ["0.9.0"]),
  ],
};
const many = { "/api/workers": Array.from({ length: 2000 }, (_, index) => listedWorker(`w${String(index).padStart(4, "0")}`)) };

test("the dashboard filters rows by word or !word, and shows all rows after esc", async () => {
  const dashboard = await renderDashboard(shops, { screen: "workers" });
  await dashboard.waitFor("> @team/shop");
  dashboard.press(`/shop${keys.enter}`);
  await dashboard.waitFor("2 of 3 versions  filter: shop");
  expect(dashboard.text()).not.toContain("todos");
  dashboard.press(`/\u0015!shop${keys.enter}`);
  await dashboard.waitFor("1 of 3 versions  filter: !shop");
  expect(dashboard.text()).not.toContain("1.4.2");
  dashboard.press(keys.esc);
  await dashboard.waitFor("1.4.2");
  await dashboard.waitFor("todos");
});

test.each([
  ["a filter is removed", `/todos${keys.enter}`, "1 of 3 versions  filter: todos"],
  ["the filter prompt is canceled", "/todos", "> todos"],
])("the dashboard keeps the same row selected when %s", async (_when, typed, shown) => {
  const dashboard = await renderDashboard(shops, { screen: "workers" });
  await dashboard.waitFor("> @team/shop");
  dashboard.press(typed);
  await dashboard.waitFor(shown);
  dashboard.press(keys.esc);
  await dashboard.waitFor(/ {2}@team\/shop[^]*> todos/);
});

test("the dashboard shows a hint when no row matches the filter", async () => {
  const dashboard = await renderDashboard(shops, { screen: "workers" });
  await dashboard.waitFor("> @team/shop");
  dashboard.press(`/zzz${keys.enter}`);
  await dashboard.waitFor("no matches; esc clears the filter");
});

test("the dashboard moves the selection by row, by page, and to the first and last row", async () => {
  const dashboard = await renderDashboard(many, { screen: "workers", columns: 140, rows: 45 });
  await dashboard.waitFor("> w0000");
  for (const [key, selected] of [
    ["j", "> w0001"],
    [keys.down, "> w0002"],
    ["k", "> w0001"],
    [keys.pageDown, "> w0039"],
    [keys.pageUp, "> w0001"],
    ["G", "> w1999"],
    ["j", "> w1999"],
    ["g", "> w0000"],
    [keys.up, "> w0000"],
  ] as const) {
    dashboard.press(key);
    await dashboard.waitFor(selected);
  }
});

const failing = (name: string) => ({ name, version: "1.0.0", state: "failing", since: 0, reason: "100 % of requests failed." });

test("lists failing workers first; the first row stays selected after another failure", async () => {
  const answers = { "/api/workers": ["a", "b", "c"].map((name) => listedWorker(name)), "/api/workers/health": [failing("c")] };
  const dashboard = await renderDashboard(answers, { screen: "workers" });
  await dashboard.waitFor(/> c .*\n +a .*\n +b /);
  dashboard.transport.answers["/api/workers/health"] = [failing("b"), failing("c")];
  dashboard.press("r");
  await dashboard.waitFor(/ {2}b .*\n> c .*\n +a /);
});

test("the dashboard keeps the same row selected when the list changes", async () => {
  const dashboard = await renderDashboard(shops, { screen: "workers" });
  await dashboard.waitFor("> @team/shop");
  dashboard.press("G");
  await dashboard.waitFor("> todos");
  dashboard.transport.answers["/api/workers"] = [listedWorker("a-new-one"), ...shops["/api/workers"]];
  dashboard.press("r");
  await dashboard.waitFor("a-new-one");
  expect(dashboard.text()).toContain("> todos");
});

test("the dashboard shows built-in workers as unchangeable after b is pressed", async () => {
  const dashboard = await renderDashboard(shops, { screen: "workers", columns: 140 });
  await dashboard.waitFor("> @team/shop");
  expect(dashboard.text()).not.toContain("hello");
  dashboard.press(`b/hello${keys.enter}`);
  await dashboard.waitFor("cannot be changed");
});

test("the dashboard shows the details instead of the list on a narrow terminal", async () => {
  const dashboard = await renderDashboard(shops, { screen: "workers", columns: 60, rows: 15 });
  await dashboard.waitFor("> @team/shop");
  dashboard.press(keys.enter);
  await dashboard.waitFor("versions  1.4.2 active");
  expect(dashboard.text()).not.toContain("> @team/shop");
  dashboard.press(keys.esc);
  await dashboard.waitFor("> @team/shop");
});

test("the dashboard's help shows only available shortcuts of the current screen", async () => {
  const dashboard = await renderDashboard({}, { screen: "overview" });
  await dashboard.waitFor("ready");
  dashboard.press("?");
  await dashboard.waitFor("Available keys");
  expect(dashboard.text()).toMatch(/r +refresh/);
  expect(dashboard.text()).not.toMatch(/page down|delete/);
  dashboard.press(`${keys.esc}2`);
  await dashboard.waitFor("[2 Workers]");
});

test("the dashboard applies the key bindings of config.yaml", async () => {
  const config = "ui:\n  keys:\n    workers.logs: z\n    list.filter: F\n";
  const dashboard = await renderDashboard(shops, { screen: "workers", config });
  await dashboard.waitFor("z logs");
  dashboard.press("Ftodos");
  await dashboard.waitFor("> todos");
});

test.each([
  ["ui: { keys: { workers.delete: e } }", "the key e is assigned to both workers.toggle and workers.delete"],
  ["ui: { keys: { workers.remove: e } }", 'no action "workers.remove"'],
  ["ui: { refresh: often }", "ui.refresh in config.yaml: often is not a duration of at least 1s"],
])("the dashboard rejects the setting %s and exits before drawing the screen", async (config, message) => {
  const dashboard = await renderDashboard({}, { config });
  await expect(dashboard.ended).rejects.toThrow(message);
  expect(dashboard.screen.written()).toBe("");
});

test("the dashboard rejects an unknown screen and exits before drawing", async () => {
  const dashboard = await renderDashboard({}, { screen: "nowhere" });
  await expect(dashboard.ended).rejects.toThrow('there is no screen "nowhere"');
  expect(dashboard.screen.written()).toBe("");
});
