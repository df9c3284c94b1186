import { expect, test } from "vitest";
import { listedWorker, WireAnswer } from "../../support/fake-daemon.js";
import { daemonUrl, renderDashboard, unreachable } from "../../support/render-dashboard.js";
import { keys } from "../../support/terminal-window.js";

const refusedKey = WireAnswer.refusal(401, "INVALID_KEY", "The key is not known.");
const profiles = `current: home\nprofiles:\n  home:\n    url: http://home.test\n  prod:\n    url: http://prod.test\n    production: true\n`;

test("the dashboard shows the time since a lost connection and until the next attempt", async () => {
  const dashboard = await renderDashboard({ "/api/workers": [listedWorker("shop")] }, { screen: "workers" });
  await dashboard.waitFor("> shop");
  dashboard.transport.failure = unreachable();
  dashboard.press("r");
  await dashboard.waitFor(/unreachable for \d+ s · (?:next try in \d+ s|trying now) · cannot reach http:\/\/daemon\.test/);
  dashboard.transport.failure = undefined;
  dashboard.transport.answers["/api/workers"] = [listedWorker("shop"), listedWorker("todos")];
  dashboard.press("r");
  await dashboard.waitFor("todos");
  expect(dashboard.text()).not.toContain("away");
});

test("the dashboard waits at least 500 ms before it repeats a call after a 503", async () => {
  const calledAtMs: number[] = [];
  const unavailable = () => {
    calledAtMs.push(Date.now());
    // The test fails instead of running forever if the calls follow without a pause.
    return calledAtMs.length > 20 ? new Promise(() => {}) : new WireAnswer(503, "<html>");
  };
  const dashboard = await renderDashboard({ "/api/workers": unavailable }, { screen: "workers" });
  await dashboard.waitFor(/unreachable for 0 s/);
  await expect.poll(() => calledAtMs.length).toBeGreaterThan(1);
  const [first = 0, second = 0] = calledAtMs;
  expect(second - first).toBeGreaterThan(500);
});

test("the dashboard shows that the daemon is not ready", async () => {
  const notReady = WireAnswer.refusal(503, "NOT_READY", "plugins are loading");
  const dashboard = await renderDashboard({ "/api/health/ready": notReady });
  await dashboard.waitFor(/health +not ready: plugins are loading/);
});

test("the dashboard ends the session with the reason when the daemon rejects the key", async () => {
  const dashboard = await renderDashboard({ "/api/workers": [listedWorker("shop")] }, { screen: "workers" });
  await dashboard.waitFor("> shop");
  dashboard.transport.answers["/api/workers"] = refusedKey;
  dashboard.press("r");
  await dashboard.waitFor(`${daemonUrl} rejects the key: The key is not known.`);
  expect(dashboard.text()).toContain("[8 Connect]");
  expect(dashboard.text()).not.toContain("shop");
});

test("the dashboard asks for URL and hidden API key if no profile exists", async () => {
  const dashboard = await renderDashboard({}, { environment: {} });
  await dashboard.waitFor("No profiles. Press i to sign in to a daemon.");
  dashboard.press("i");
  await dashboard.waitFor("URL of the daemon: http://127.0.0.1:8000");
  dashboard.press(`\u0015http://other.test${keys.enter}`);
  await dashboard.waitFor("key for http://other.test:");
  dashboard.press("a-secret-key");
  await dashboard.waitFor("(typed, hidden)");
  dashboard.press(keys.esc);
  await dashboard.waitFor(() => !dashboard.text().includes("key for http://other.test"));
  expect(dashboard.screen.written()).not.toContain("a-secret-key");
  expect(dashboard.transport.requests).toEqual([]);
});

test("the dashboard lists profiles and marks current, production and keyless profiles", async () => {
  const dashboard = await renderDashboard({}, { environment: {}, config: profiles });
  await dashboard.waitFor(/> home \(in use\) +http:\/\/home\.test +missing/);
  expect(dashboard.text()).toMatch(/prod +http:\/\/prod\.test +missing +PRODUCTION/);
  dashboard.press(`j${keys.enter}`);
  await dashboard.waitFor("key for http://prod.test:");
});

test("the dashboard first selects the default profile, even if it is not listed first", async () => {
  const config = "current: second\nprofiles:\n  first:\n    url: http://first.test\n  second:\n    url: http://second.test\n";
  const dashboard = await renderDashboard({}, { environment: {}, config });
  await dashboard.waitFor(/> second /);
  dashboard.press(`k${keys.enter}`);
  await dashboard.waitFor("key for http://first.test:");
});

test("the dashboard sends requests at the --refresh interval, and when r is pressed", async () => {
  const dashboard = await renderDashboard({}, { screen: "workers", refreshMs: 3_600_000 });
  await dashboard.waitFor("no workers");
  await dashboard.waitFor("ready");
  const listings = () => dashboard.transport.requests.filter(({ path }) => path === "/api/workers").length;
  expect(listings()).toBe(1);
  dashboard.press("r");
  await expect.poll(listings).toBe(2);
});
