import { expect, onTestFinished, test, vi } from "vitest";
import { listedWorker } from "../../support/fake-daemon.js";
import { renderDashboard } from "../../support/render-dashboard.js";
import { keys } from "../../support/terminal-window.js";

/** Opens the dashboard with an open palette. */
async function openPalette() {
  const files = { "app/manifest.yaml": "name: app\n", "other/manifest.yaml": "name: other\n" };
  const dashboard = await renderDashboard({ "/api/workers": [listedWorker("app")] }, { files });
  await dashboard.waitFor("ready");
  dashboard.press(":");
  await dashboard.waitFor("tab: api · audit · auth");
  return dashboard;
}

test("the palette completes commands, flags, paths and worker names after the tab key", async () => {
  const dashboard = await openPalette();
  dashboard.press(`wo${keys.tab}`);
  await dashboard.waitFor("tab: config · delete · disable");
  dashboard.press(`upl${keys.tab}`);
  await dashboard.waitFor("tab: app/ · other/");
  dashboard.press(`o${keys.tab}`);
  await dashboard.waitFor("runtimectl workers upload other/");
  dashboard.press(` --dry${keys.tab}`);
  await dashboard.waitFor("runtimectl workers upload other/ --dry-run");
  dashboard.press("\u0015workers disable ");
  await dashboard.waitFor("tab: app · app@1.0.0");
});

test("the dashboard reports no React error when 60 keys arrive at once", async () => {
  const errors = vi.spyOn(console, "error");
  onTestFinished(() => errors.mockRestore());
  const dashboard = await openPalette();
  dashboard.press("x".repeat(60));
  await dashboard.waitFor("x".repeat(60));
  expect(errors).not.toHaveBeenCalled();
});

test("the palette shows a command's exit code; the up key shows the command again", async () => {
  const dashboard = await openPalette();
  dashboard.press(`help exit-codes${keys.enter}`);
  await dashboard.waitFor("runtimectl help exit-codes → 0");
  dashboard.press(keys.esc);
  dashboard.press(":");
  await dashboard.waitFor("tab: api");
  dashboard.press(keys.up);
  await dashboard.waitFor(/runtimectl help exit-codes\s*\n/);
  dashboard.press(keys.down);
  await dashboard.waitFor("tab: api");
});

test.each([
  ["wrkers list", "the command does not exist", 2],
  ["tui", "the command does not exist", 2],
  [`auth login rtk_${"a".repeat(43)}`, "the command line contains an API key", 2],
])("the dashboard shows an error for the command %s and keeps running", async (line, reason, exitCode) => {
  const dashboard = await openPalette();
  dashboard.press(`${line}${keys.enter}`);
  await dashboard.waitFor(reason);
  expect(dashboard.text()).toContain(`→ ${exitCode}`);
  dashboard.press(`${keys.esc}2`);
  await dashboard.waitFor("> app");
});

test("the dashboard does not store a command that contains an API key in the history", async () => {
  const dashboard = await openPalette();
  dashboard.press(`help exit-codes${keys.enter}`);
  await dashboard.waitFor("→ 0");
  dashboard.press(`${keys.esc}:auth login rtk_${"a".repeat(43)}${keys.enter}`);
  await dashboard.waitFor("the command line contains an API key");
  dashboard.press(`${keys.esc}:`);
  await dashboard.waitFor("tab: api");
  dashboard.press(keys.up);
  await dashboard.waitFor(/runtimectl help exit-codes\s*\n/);
});
