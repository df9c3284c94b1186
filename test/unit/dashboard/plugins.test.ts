import { expect, test } from "vitest";
import { renderDashboard, type DashboardSetup, type RenderedDashboard } from "../../support/render-dashboard.js";
import { keys } from "../../support/terminal-window.js";
import { admin, listedPlugin, loadedPlugin, success, successOf } from "./sample-data.js";

/** Opens the plugins screen of a daemon with a loaded, a failed and a built-in plugin. */
async function openPlugins(setup: DashboardSetup = {}, answers: Readonly<Record<string, unknown>> = {}): Promise<RenderedDashboard> {
  const guard = listedPlugin("@team/guard");
  const listed = [
    guard,
    listedPlugin("broken", { status: "failed", error: "\u001b[2Jno database" }),
    listedPlugin("gateway", { source: "built-in", removable: false }),
  ];
  const setEnabled = (enabled: boolean) => () => {
    Object.assign(guard, listedPlugin("@team/guard", { enabled, status: enabled ? "loaded" : "disabled" }));
    return successOf({ name: "@team/guard", enabled });
  };
  const usual = {
    "/api/admin/session": admin,
    "/api/plugins": () => listed,
    "/api/plugins/loaded": [loadedPlugin("@team/guard"), loadedPlugin("audit", { dependencies: ["@team/guard"] })],
    "POST /api/plugins/%40team%2Fguard/disable": setEnabled(false),
    "POST /api/plugins/%40team%2Fguard/enable": setEnabled(true),
    "POST /api/plugins/broken/disable": successOf({ name: "broken", enabled: true }),
    "DELETE /api/plugins/%40team%2Fguard": () => {
      listed.shift();
      return success;
    },
  };
  const dashboard = await renderDashboard({ ...usual, ...answers }, { screen: "plugins", ...setup });
  await dashboard.waitFor(/@team\/guard +1\.0\.0 +● ok/);
  // The failed plugin is first in the list.
  dashboard.press("j");
  await dashboard.waitFor(/> @team\/guard/);
  return dashboard;
}

test("the dashboard disables a plugin, and undo enables it", async () => {
  const dashboard = await openPlugins();
  await dashboard.waitFor("e on/off");
  dashboard.press("e");
  await dashboard.waitFor("done: @team/guard is disabled");
  await dashboard.waitFor(/@team\/guard +1\.0\.0 +○ disabled/);
  dashboard.press("U");
  await dashboard.waitFor("done: @team/guard is enabled");
  await dashboard.waitFor(/@team\/guard +1\.0\.0 +● ok/);
});

test("the dashboard shows a warning when an enabled plugin fails to load", async () => {
  const dashboard = await openPlugins();
  await dashboard.waitFor("e on/off");
  dashboard.press("k");
  await dashboard.waitFor("> broken");
  dashboard.press("e");
  await dashboard.waitFor(String.raw`warning: broken is enabled, but failed to load: \x1b[2Jno database`);
});

test("the dashboard names dependent plugins before the user confirms a deletion", async () => {
  const dashboard = await openPlugins({ columns: 110 });
  await dashboard.waitFor("d delete");
  dashboard.press("d");
  await dashboard.waitFor("Delete the plugin @team/guard 1.0.0 permanently; plugins that depend on it: audit.");
  dashboard.press(`other${keys.enter}`);
  await dashboard.waitFor("The name does not match. Nothing changed.");
  expect(dashboard.transport.changes()).toEqual([]);
  dashboard.press(`\u0015@team/guard${keys.enter}`);
  await dashboard.waitFor("done: @team/guard deleted");
  expect(dashboard.transport.changes()).toEqual(["DELETE /api/plugins/%40team%2Fguard"]);
});

test("the dashboard does not delete a built-in plugin", async () => {
  const dashboard = await openPlugins();
  await dashboard.waitFor("d delete");
  dashboard.press("G");
  await dashboard.waitFor("> gateway");
  dashboard.press("d");
  await dashboard.waitFor("note: gateway is built in: it can be disabled, but not deleted");
  expect(dashboard.transport.changes()).toEqual([]);
});

test("the dashboard shows the state of each plugin before and after a reload", async () => {
  const reloaded = [{ name: "late", version: "0.1.0", loaded: true }];
  let isReloaded = false;
  const answers = {
    "/api/plugins": () => [listedPlugin("@team/guard"), ...(isReloaded ? [listedPlugin("late", { version: "0.1.0" })] : [])],
    "POST /api/plugins/reload": () => {
      isReloaded = true;
      return successOf({ plugins: reloaded });
    },
  };
  const dashboard = await openPlugins({ columns: 100 }, answers);
  await dashboard.waitFor("L reload all");
  dashboard.press("L");
  await dashboard.waitFor(/late +not installed +0\.1\.0 loaded/);
  expect(dashboard.text()).toMatch(/@team\/guard +1\.0\.0 loaded +1\.0\.0 loaded/);
  dashboard.press(keys.esc);
  await dashboard.waitFor("done: 1 of 1 plugin loaded");
});

test("the dashboard opens an upload command with path completion when u is pressed", async () => {
  const dashboard = await openPlugins({ files: { "extra/manifest.yaml": "name: extra\n" } });
  await dashboard.waitFor("u upload");
  dashboard.press("u");
  await dashboard.waitFor("runtimectl plugins upload ./");
  await dashboard.waitFor("./extra/");
  dashboard.press(`e${keys.tab}`);
  await dashboard.waitFor("plugins upload ./extra/");
});

test("the dashboard offers no action that changes plugins in read-only mode", async () => {
  const dashboard = await openPlugins({ isReadOnly: true });
  await dashboard.waitFor("read-only");
  dashboard.press("eduL?");
  await dashboard.waitFor("Available keys");
  expect(dashboard.text()).not.toMatch(/on\/off|reload all|upload|delete/);
  expect(dashboard.transport.changes()).toEqual([]);
});
