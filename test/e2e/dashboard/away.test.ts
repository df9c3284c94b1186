import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../support/start-daemon.js";
import { DashboardSession } from "./dashboard-session.js";

test("shows the last received data and its age while the daemon is unreachable", async () => {
  const session = await DashboardSession.open();
  onTestFinished(() => session.close());
  const window = await session.tui("--screen workers");
  await window.waitFor(/> app +1\.0\.0 +[–●] (?:idle|ok)/);
  await window.waitFor("ready");
  await session.daemon.stop();
  await window.waitFor(/unreachable for \d+ s · (next try in \d+ s|trying now) · cannot reach http/);
  expect(window.text()).toMatch(/> app +1\.0\.0 +[–●] (?:idle|ok)/);
  expect(window.text()).not.toContain("ready");
  const { directory, url } = session.daemon;
  const back = await startDaemon({ directory, env: { PORT: new URL(url).port } });
  onTestFinished(() => back.kill());
  await window.waitFor("ready");
  expect(window.text()).not.toContain("unreachable for");
  window.press("e");
  await window.waitFor("y/N");
  window.press("y");
  await window.waitFor("done: app 1.0.0 is disabled");
});
