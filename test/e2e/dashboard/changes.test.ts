import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../support/connect.js";
import { DashboardSession } from "./dashboard-session.js";

test("shows changes by other clients immediately with a refresh interval of 10 minutes", async () => {
  const session = await DashboardSession.open();
  onTestFinished(() => session.close());
  const root = connect(session.daemon.url, session.daemon.rootKey);
  const window = await session.tui("--screen workers --refresh 10m");
  await window.waitFor(/> app +1\.0\.0 +[–●] (?:idle|ok)/);
  // The dashboard opens the event stream after the first responses.
  await expect.poll(async () => (await root.metrics.show({ query: {} })).daemon.events?.followers).toBe(1);
  await root.workers.disable({ params: { scope: "_", name: "app", version: "1.0.0" } });
  await window.waitFor(/> app +1\.0\.0 +○ disabled/);
  await root.workers.enable({ params: { scope: "_", name: "app", version: "1.0.0" } });
  await window.waitFor(/> app +1\.0\.0 +[–●] (?:idle|ok)/);
  window.press("4");
  await window.waitFor("no keys");
  await root.keys.create({ body: { name: "made elsewhere", role: "viewer" } });
  await window.waitFor("made elsewhere");
});
