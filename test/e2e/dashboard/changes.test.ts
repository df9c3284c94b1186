import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../support/connect.js";
import { DashboardSession } from "./dashboard-session.js";

test("what others change is shown at once, though nothing is asked for in turn for ten minutes", async () => {
  const session = await DashboardSession.open();
  onTestFinished(() => session.close());
  const root = connect(session.daemon.url, session.daemon.rootKey);
  const window = await session.tui("--screen workers --refresh 10m");
  await window.waitFor(/> app +1\.0\.0 +on/);
  // The stream is opened after the first answers.
  await expect.poll(async () => (await root.metrics.show({ query: {} })).daemon.events?.followers).toBe(1);
  await root.workers.disable({ params: { scope: "_", name: "app", version: "1.0.0" } });
  await window.waitFor(/> app +1\.0\.0 +off/);
  await root.workers.enable({ params: { scope: "_", name: "app", version: "1.0.0" } });
  await window.waitFor(/> app +1\.0\.0 +on/);
  window.press("4");
  await window.waitFor("no keys yet");
  await root.keys.create({ body: { name: "made elsewhere", role: "viewer" } });
  await window.waitFor("made elsewhere");
});
