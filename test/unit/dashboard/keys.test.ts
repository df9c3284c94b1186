import { expect, test } from "vitest";
import { OneTimeSecret } from "../../../src/cli/dashboard/keys/one-time-secret.js";
import { Overlays } from "../../../src/cli/dashboard/components/overlays.js";
import { rolePermissions } from "../../../src/shared/permissions.js";
import { WireAnswer } from "../../support/fake-daemon.js";
import { created } from "../../support/fake-transport.js";
import { renderDashboard, sessionOf, unreachable, type DashboardSetup, type RenderedDashboard } from "../../support/render-dashboard.js";
import { keys } from "../../support/terminal-window.js";
import { listedKey, success } from "./sample-data.js";

const secret = `rtk_${"s3cret".repeat(7)}x`;

/** Opens the keys screen of a daemon with several keys, one of them the dashboard's own. */
async function openKeys(setup: DashboardSetup = {}, answers: Readonly<Record<string, unknown>> = {}): Promise<RenderedDashboard> {
  const listed = [listedKey(2, "operator", { role: "admin" }), listedKey(3, "leaving")];
  const usual = {
    "/api/admin/session": sessionOf(rolePermissions.admin, { id: 2, name: "operator" }),
    "/api/keys": () => ({ keys: listed }),
    "POST /api/keys": created({ ...listedKey(4, "release", { role: "editor", expiresAt: 4_000_000_000 }), key: secret }),
    "DELETE /api/keys/3": () => {
      listed.pop();
      return success;
    },
  };
  const dashboard = await renderDashboard({ ...usual, ...answers }, { screen: "keys", ...setup });
  await dashboard.waitFor("leaving");
  return dashboard;
}

const lastBody = ({ transport }: RenderedDashboard) => transport.requests.findLast(({ method }) => method === "POST")?.body;

test("the dashboard revokes an API key only after the user types its name", async () => {
  const dashboard = await openKeys();
  await dashboard.waitFor("c create");
  dashboard.press(`/leaving${keys.enter}d`);
  await dashboard.waitFor("Revoke key 3 (leaving, viewer, rtk_3…) permanently");
  dashboard.press(keys.esc);
  await dashboard.waitFor("note: nothing changed");
  expect(dashboard.transport.changes()).toEqual([]);
  dashboard.press(`dleaving${keys.enter}`);
  await dashboard.waitFor("done: key 3 (leaving) revoked");
  expect(dashboard.transport.changes()).toEqual(["DELETE /api/keys/3"]);
});

test("the dashboard does not revoke the API key of the current session", async () => {
  const dashboard = await openKeys({ columns: 130 });
  await dashboard.waitFor("> operator (in use)");
  dashboard.press("d");
  await dashboard.waitFor("note: a key cannot revoke itself; to revoke operator");
  expect(dashboard.transport.changes()).toEqual([]);
});

test("the dashboard creates an API key from a form and shows it until y is pressed", async () => {
  const dashboard = await openKeys();
  await dashboard.waitFor("c create");
  dashboard.press("c");
  await dashboard.waitFor("New key");
  dashboard.press(`release${keys.tab}\u001b[D${keys.tab}\u0015@team @other${keys.tab}\u00156m${keys.enter}`);
  await dashboard.waitFor("This key is shown only once");
  expect(lastBody(dashboard)).toEqual({ name: "release", role: "editor", expiresIn: "6m", namespaces: ["@team", "@other"] });
  expect(dashboard.text()).toContain(secret);
  dashboard.press("y");
  await dashboard.waitFor("y copied");
  expect(dashboard.screen.written()).toContain(Buffer.from(secret).toString("base64"));
  dashboard.press(keys.esc);
  await dashboard.waitFor("Did you store the key?");
  dashboard.press("n");
  await dashboard.waitFor("esc close");
  expect(dashboard.text()).toContain(secret);
  dashboard.press(`${keys.esc}y`);
  await dashboard.waitFor("LAST USED");
  expect(dashboard.screen.remembered()).not.toContain(secret);
});

test("the dashboard creates an API key with the selected permissions", async () => {
  const dashboard = await openKeys({ rows: 30 });
  await dashboard.waitFor("c create");
  dashboard.press(`cx${keys.tab}`);
  await dashboard.waitFor("(viewer)");
  dashboard.press(" ");
  await dashboard.waitFor("(custom)");
  dashboard.press(`${keys.tab} ${keys.right} ${keys.tab}${keys.tab}${keys.enter}`);
  await dashboard.waitFor("This key is shown only once");
  expect(lastBody(dashboard)).toMatchObject({ name: "x", role: "custom", permissions: rolePermissions.admin.slice(0, 2) });
});

test("the key form moves through permissions in the displayed order in 60 columns", async () => {
  const dashboard = await openKeys({ columns: 60, rows: 30 });
  await dashboard.waitFor("c create");
  dashboard.press(`cx${keys.tab} ${keys.tab}${keys.right.repeat(11)} `);
  await dashboard.waitFor(/audit +\[x\] read/);
  dashboard.press(`${keys.right} `);
  await dashboard.waitFor(/settings +\[x\] read/);
});

test.each([
  ["no name", keys.tab.repeat(3), "the name is missing"],
  ["a custom role without permissions", `a${keys.tab} ${keys.tab}${keys.tab}${keys.tab}`, "the role custom requires a permission"],
  ["no namespace", `a${keys.tab}${keys.tab}\u0015${keys.tab}`, "the namespace is missing"],
  ["an invalid namespace", `a${keys.tab}${keys.tab}\u0015team${keys.tab}`, '"team" is not a namespace'],
  ["an invalid lifetime", `a${keys.tab.repeat(3)}\u0015soon`, '"soon" is not a lifetime'],
])("the dashboard sends no request when the form for an API key has %s", async (_what, typed, reason) => {
  const dashboard = await openKeys({ rows: 30 });
  await dashboard.waitFor("c create");
  dashboard.press(`c${typed}${keys.enter}`);
  await dashboard.waitFor(reason);
  expect(dashboard.transport.changes()).toEqual([]);
});

test("a key without expiry is created only after enter is pressed twice in the form", async () => {
  const dashboard = await openKeys();
  await dashboard.waitFor("c create");
  dashboard.press(`ca${keys.tab.repeat(3)}\u0015never${keys.enter}`);
  await dashboard.waitFor("this key will never expire");
  expect(dashboard.transport.changes()).toEqual([]);
  dashboard.press(keys.enter);
  await dashboard.waitFor("This key is shown only once");
});

test.each([
  ["the daemon rejects the key", WireAnswer.refusal(403, "PERMISSION_ESCALATION", "Too much for your key."), "Too much for your key."],
  ["the daemon is unreachable", unreachable(), "cannot reach http://daemon.test"],
])("the dashboard keeps the entered values of an API key when %s", async (_when, answer, reason) => {
  const dashboard = await openKeys({}, { "POST /api/keys": answer });
  await dashboard.waitFor("c create");
  dashboard.press(`cpatient${keys.tab.repeat(3)}${keys.enter}`);
  await dashboard.waitFor(reason);
  expect(dashboard.text()).toMatch(/name +patient/);
  expect(dashboard.text()).toContain("lifetime (expires");
});

test("the dashboard hides a new API key only after y is pressed", async () => {
  const dashboard = await openKeys();
  await dashboard.waitFor("c create");
  dashboard.press(`ca${keys.tab.repeat(3)}${keys.enter}`);
  await dashboard.waitFor("This key is shown only once");
  dashboard.press("?:1q");
  await dashboard.waitFor("Did you store the key?");
  expect(dashboard.text()).toContain(secret);
});

test("the dashboard erases a displayed API key when ctrl-c is pressed", async () => {
  const dashboard = await openKeys();
  await dashboard.waitFor("c create");
  dashboard.press(`ca${keys.tab.repeat(3)}${keys.enter}`);
  await dashboard.waitFor(secret);
  dashboard.press(keys.ctrlC);
  await dashboard.ended;
  expect(dashboard.screen.remembered()).not.toContain(secret);
});

test.each([
  ["a viewer key", { answers: { "/api/admin/session": sessionOf(rolePermissions.viewer.concat("keys:read")) }, isReadOnly: false }],
  ["read-only mode", { answers: {}, isReadOnly: true }],
])("with %s, the dashboard does not create or revoke API keys", async (_who, { answers, isReadOnly }) => {
  const dashboard = await openKeys({ isReadOnly }, answers);
  await dashboard.waitFor("q quit");
  dashboard.press("cd?");
  await dashboard.waitFor("Available keys");
  expect(dashboard.text()).not.toMatch(/\b[cd] +(?:create|revoke)/);
  expect(dashboard.transport.changes()).toEqual([]);
});

test("the dashboard shows a new API key above other dialogs and erases it on close", () => {
  const overlays = new Overlays();
  const shown = new OneTimeSecret(secret);
  overlays.show({ kind: "reveal", secret: shown, about: [] });
  overlays.show({ kind: "lines", title: "late", lines: [] });
  expect(overlays.state().overlay?.kind).toBe("reveal");
  expect(shown.text()).toBe(secret);
  overlays.close();
  expect(overlays.state().overlay).toBeUndefined();
  expect(shown.text()).not.toBe(secret);
});

test("the dashboard shows a second new API key after the user closes the first", () => {
  const overlays = new Overlays();
  const [first, second] = [new OneTimeSecret(secret), new OneTimeSecret("rtk_second")];
  overlays.show({ kind: "reveal", secret: first, about: [] });
  overlays.show({ kind: "reveal", secret: second, about: ["second"] });
  expect(overlays.state().overlay).toMatchObject({ kind: "reveal", secret: first });
  overlays.close();
  expect(overlays.state().overlay).toMatchObject({ kind: "reveal", secret: second });
  expect(second.text()).toBe("rtk_second");
  overlays.close();
  expect(overlays.state().overlay).toBeUndefined();
  expect(second.text()).not.toBe("rtk_second");
});

test("the dashboard offers no rotation without keys:revoke, and names this permission", async () => {
  const session = sessionOf(["keys:read", "keys:create"], { id: 2, name: "operator" });
  const dashboard = await openKeys({}, { "/api/admin/session": session });
  await dashboard.waitFor("c create");
  dashboard.press(`/leaving${keys.enter}K`);
  await dashboard.waitFor("required permission keys:revoke");
  expect(dashboard.transport.changes()).toEqual([]);
});
