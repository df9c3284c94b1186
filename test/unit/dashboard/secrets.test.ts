import { expect, test } from "vitest";
import { listedWorker, WireAnswer } from "../../support/fake-daemon.js";
import { FakeStream } from "../../support/fake-transport.js";
import { renderDashboard, sessionOf, type DashboardSetup, type RenderedDashboard } from "../../support/render-dashboard.js";
import { keys } from "../../support/terminal-window.js";
import { admin, success, successOf } from "./sample-data.js";

const value = "sk_live_hidden_value";
const about = { setAt: 1_750_000_000, setBy: "deployer", staged: false };
const listed = {
  secrets: [
    { name: "STRIPE_KEY", source: "worker", ...about },
    { name: "SENTRY_DSN", source: "namespace", ...about },
  ],
  missing: ["DATABASE_URL"],
};
const path = "/api/workers/%40team/shop/secrets";

/** Opens the secrets of a worker by the key of the screen Workers. */
async function openSecrets(setup: DashboardSetup = {}, answers: Readonly<Record<string, unknown>> = {}): Promise<RenderedDashboard> {
  const usual = {
    "/api/admin/session": admin,
    "/api/workers": [listedWorker("@team/shop", ["1.4.2"])],
    [path]: listed,
    [`PUT ${path}/STRIPE_KEY`]: successOf({ name: "STRIPE_KEY", source: "worker", ...about }),
    [`PUT ${path}/NEW_KEY`]: successOf({ name: "NEW_KEY", source: "worker", ...about }),
    [`DELETE ${path}/STRIPE_KEY`]: success,
    [`DELETE ${path}/STRIPE_KEY?force=true`]: success,
  };
  const dashboard = await renderDashboard({ ...usual, ...answers }, { screen: "workers", columns: 110, ...setup });
  await dashboard.waitFor("o open");
  dashboard.press("s");
  await dashboard.waitFor("STRIPE_KEY");
  return dashboard;
}

test("the dashboard lists missing secrets first, with name, source and state of each", async () => {
  const dashboard = await openSecrets();
  const text = dashboard.text();
  expect(text).toContain("[2 Workers]");
  expect(text).toMatch(/> DATABASE_URL +manifest +missing/);
  expect(text).toMatch(/STRIPE_KEY +worker +set/);
  expect(text).toMatch(/SENTRY_DSN +namespace +set/);
  dashboard.press(keys.esc);
  await dashboard.waitFor("> @team/shop");
});

test("the dashboard sets a secret without ever showing its value", async () => {
  const dashboard = await openSecrets();
  dashboard.press("jE");
  await dashboard.waitFor("value of STRIPE_KEY:");
  dashboard.press(`${value}${keys.enter}`);
  await dashboard.waitFor("done: STRIPE_KEY of @team/shop is set");
  expect(dashboard.transport.requests.findLast(({ method }) => method === "PUT")?.body).toEqual({ value });
  dashboard.press("x");
  await dashboard.waitFor("runtimectl secrets set @team/shop STRIPE_KEY");
  expect(dashboard.screen.written()).not.toContain(value);
});

test("the dashboard asks for the name and the value of a new secret", async () => {
  const dashboard = await openSecrets();
  dashboard.press("c");
  await dashboard.waitFor("name of the secret:");
  dashboard.press(`A-B${keys.enter}`);
  await dashboard.waitFor("failed: a name is");
  dashboard.press("c");
  await dashboard.waitFor("name of the secret:");
  dashboard.press(`NEW_KEY${keys.enter}`);
  await dashboard.waitFor("value of NEW_KEY:");
  dashboard.press(` ${value} ${keys.enter}`);
  await dashboard.waitFor("done: NEW_KEY of @team/shop is set");
  expect(dashboard.transport.requests.findLast(({ method }) => method === "PUT")?.body).toEqual({ value: ` ${value} ` });
});

test("asks for the name before it removes a secret; a required secret needs the key D", async () => {
  const required = WireAnswer.refusal(409, "SECRET_IN_USE", "The active version of @team/shop requires STRIPE_KEY.");
  const dashboard = await openSecrets({}, { [`DELETE ${path}/STRIPE_KEY`]: required });
  dashboard.press("jd");
  await dashboard.waitFor("Remove the secret STRIPE_KEY of @team/shop");
  dashboard.press(`STRIPE_KEY${keys.enter}`);
  await dashboard.waitFor("failed: The active version of @team/shop requires STRIPE_KEY.");
  dashboard.press("D");
  await dashboard.waitFor("even if an active version requires it");
  dashboard.press(keys.esc);
  await dashboard.waitFor("note: nothing changed");
});

test("the dashboard does not remove a missing secret or a secret of the namespace", async () => {
  const dashboard = await openSecrets();
  dashboard.press("d");
  await dashboard.waitFor("note: DATABASE_URL is not set");
  dashboard.press("Gd");
  await dashboard.waitFor("note: SENTRY_DSN is a secret of the namespace");
  expect(dashboard.transport.changes()).toEqual([]);
});

test("the dashboard does not change secrets without the permission workers:install", async () => {
  const dashboard = await openSecrets({}, { "/api/admin/session": sessionOf(["workers:read"]) });
  for (const key of ["c", "E"]) {
    dashboard.press(key);
    await dashboard.waitFor("workers:install");
  }
  expect(dashboard.transport.changes()).toEqual([]);
});

test.each(["secret.set", "secret.removed", "worker.installed"])(
  "the dashboard shows secrets that another client sets, after the event %s",
  async (type) => {
    const events = new FakeStream();
    const state = { missing: ["DATABASE_URL"] };
    const answers = { "/api/events": events, [path]: () => ({ ...listed, ...state }) };
    const dashboard = await openSecrets({ refreshMs: 600_000 }, answers);
    await expect.poll(() => events.readerCount).toBe(1);
    state.missing = ["OTHER_KEY"];
    events.send({ id: 1, type, at: 0 } as { id: number });
    await dashboard.waitFor("OTHER_KEY");
  },
);
