import { expect, test } from "vitest";
import { listedWorker } from "../../support/fake-daemon.js";
import { renderDashboard } from "../../support/render-dashboard.js";
import { keys } from "../../support/terminal-window.js";
import { admin } from "./sample-data.js";

const answers = { "/api/admin/session": admin, "/api/workers": [listedWorker("shop", ["1.1.0", "1.0.0"])] };

test.each([
  ["q", "q"],
  ["ctrl-c", keys.ctrlC],
])("the dashboard quits and restores the terminal when the key %s is pressed", async (_key, bytes) => {
  const dashboard = await renderDashboard(answers);
  await dashboard.waitFor("ready");
  expect(dashboard.screen.isAlternate).toBe(true);
  dashboard.press(bytes);
  await dashboard.ended;
  expect(dashboard.screen.isAlternate).toBe(false);
  expect(dashboard.screen.written().endsWith("\u001b[?25h\u001b[?1049l")).toBe(true);
  expect(dashboard.screen.isPasteMarked).toBe(false);
});

test("the dashboard restores the terminal after ctrl-z, and redraws when resumed", async () => {
  const dashboard = await renderDashboard(answers, { screen: "workers" });
  await dashboard.waitFor("> shop");
  dashboard.press(keys.ctrlZ);
  await dashboard.waitFor(() => dashboard.signals.stops === 1 && !dashboard.screen.isAlternate);
  await dashboard.waitFor(() => dashboard.screen.isAlternate && dashboard.text().includes("> shop"));
});

test("the dashboard exits when the terminal is closed", async () => {
  const dashboard = await renderDashboard(answers);
  await dashboard.waitFor("ready");
  dashboard.closeTerminal();
  await expect.poll(() => dashboard.signals.hangUps).toBeGreaterThan(0);
});

test("the dashboard redraws the screen when the terminal is resized", async () => {
  const dashboard = await renderDashboard(answers, { screen: "workers", columns: 140, rows: 45 });
  await dashboard.waitFor("> shop");
  dashboard.resize(60, 15);
  await dashboard.waitFor("[Workers]");
  await dashboard.waitFor(() => dashboard.text().split("\n").length === 14);
  dashboard.resize(120, 30);
  await dashboard.waitFor("uploaded · /srv/workers/shop");
  expect(dashboard.text().match(/> shop/g)).toHaveLength(1);
  expect(dashboard.screen.written()).not.toContain("\u001b[3J");
});

test("a small terminal shows the required size, and only ctrl-c is accepted", async () => {
  const dashboard = await renderDashboard(answers, { screen: "workers", columns: 20, rows: 5 });
  await dashboard.waitFor(/the\s+terminal\s+is\s+too\s+small:\s+20x5,\s+required\s+60x15/);
  dashboard.press("dyq");
  dashboard.resize(80, 24);
  await dashboard.waitFor("> shop");
  expect(dashboard.transport.changes()).toEqual([]);
  dashboard.resize(20, 5);
  await dashboard.waitFor(/too\s+small/);
  dashboard.press(keys.ctrlC);
  await dashboard.ended;
});

test("the dashboard ignores keys while the terminal is too small for an open dialog", async () => {
  const dashboard = await renderDashboard(answers, { screen: "workers" });
  await dashboard.waitFor("d delete");
  dashboard.press("d");
  await dashboard.waitFor("y/N");
  dashboard.resize(20, 5);
  await dashboard.waitFor(/too\s+small/);
  dashboard.press("y");
  dashboard.resize(80, 24);
  await dashboard.waitFor("y/N");
  dashboard.press("n");
  await dashboard.waitFor("note: nothing changed");
  expect(dashboard.transport.changes()).toEqual([]);
});

test("the dashboard inserts pasted text only in text inputs, and never as key presses", async () => {
  const dashboard = await renderDashboard(answers, { screen: "workers" });
  await dashboard.waitFor("d delete");
  dashboard.paste("dyq\r\n:");
  dashboard.press("/");
  await dashboard.waitFor("filter:");
  dashboard.paste("sh\top\n1.1\r\n");
  await dashboard.waitFor("filter: sh op 1.1");
  dashboard.press(`${keys.esc}d`);
  await dashboard.waitFor("y/N");
  dashboard.paste("y");
  await dashboard.waitFor("note: nothing changed");
  expect(dashboard.transport.changes()).toEqual([]);
});

test("the dashboard writes nothing to the terminal while the data is unchanged", async () => {
  const dashboard = await renderDashboard(answers, { screen: "workers", refreshMs: 600_000 });
  await dashboard.waitFor("> shop");
  await dashboard.waitFor("ready");
  await dashboard.waitFor("cannot load the log");
  const listings = () => dashboard.transport.requests.filter(({ path }) => path === "/api/workers").length;
  const [before, asked] = [dashboard.screen.written(), listings()];
  dashboard.press("r");
  await expect.poll(listings).toBe(asked + 1);
  dashboard.press("r");
  await expect.poll(listings).toBe(asked + 2);
  expect(dashboard.screen.written()).toBe(before);
});
