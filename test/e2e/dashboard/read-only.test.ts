import { afterAll, beforeAll, expect, test } from "vitest";
import { keys } from "../../support/terminal-window.js";
import { DashboardSession } from "./dashboard-session.js";

let session: DashboardSession;

beforeAll(async () => {
  session = await DashboardSession.open();
});

afterAll(() => session?.close());

test("in read-only mode, offers no changes and ignores shortcuts for changes", async () => {
  const window = await session.tui("--screen workers --readonly");
  await window.waitFor(/app +1\.0\.0 +[–●] (?:idle|ok)/);
  await window.waitFor("read-only");
  expect(window.text()).not.toMatch(/on\/off|restart|delete/);
  window.press("eRd?");
  await window.waitFor("Available keys");
  expect(window.text()).not.toMatch(/on\/off|restart|delete/);
  expect((await fetch(`${session.daemon.url}/app/`)).status).toBe(200);
});

test("in read-only mode, rejects commands that change data and runs other commands", async () => {
  const window = await session.tui("--readonly");
  await window.waitFor("ready");
  window.press(`:workers delete app --yes${keys.enter}`);
  await window.waitFor("the dashboard is in read-only mode");
  expect((await fetch(`${session.daemon.url}/app/`)).status).toBe(200);
  window.press(`${keys.esc}:workers list${keys.enter}`);
  await window.waitFor(/app +1\.0\.0 +(?:ok|idle) +live +uploaded/);
});
