import { expect, test } from "vitest";
import { parseHostTarget } from "../../../src/cli/dashboard/actions/hosts.js";
import { FakeStream } from "../../support/fake-transport.js";
import { renderDashboard, sessionOf, type DashboardSetup, type RenderedDashboard } from "../../support/render-dashboard.js";
import { keys } from "../../support/terminal-window.js";
import { admin, success, successOf } from "./sample-data.js";

const added = { host: "shop.example.org", worker: "@team/shop", version: "^1", createdAt: 1_750_000_000, createdBy: "root" };

async function openHosts(setup: DashboardSetup = {}, answers: Readonly<Record<string, unknown>> = {}): Promise<RenderedDashboard> {
  const hosts = [added];
  const usual = {
    "/api/admin/session": admin,
    "/api/hosts": () => ({ hosts, requested: [{ host: "todos.example.org", worker: "todos" }], appDomain: "apps.example.org" }),
    "PUT /api/hosts/todos.example.org": successOf({ ...added, host: "todos.example.org", worker: "todos" }),
    "PUT /api/hosts/new.example.org": successOf({ ...added, host: "new.example.org" }),
    "DELETE /api/hosts/shop.example.org": () => {
      hosts.pop();
      return success;
    },
    "DELETE /api/hosts/todos.example.org": success,
  };
  const dashboard = await renderDashboard({ ...usual, ...answers }, { screen: "hosts", columns: 100, ...setup });
  await dashboard.waitFor("todos.example.org");
  return dashboard;
}

const bodyOf = ({ transport }: RenderedDashboard) => transport.requests.findLast(({ method }) => method === "PUT")?.body;

test("the dashboard shows added and requested hosts, and the domain of automatic hosts", async () => {
  const dashboard = await openHosts();
  const text = dashboard.text();
  expect(text).toMatch(/shop\.example\.org +@team\/shop +added +\^1/);
  expect(text).toMatch(/todos\.example\.org +todos +requested +active/);
  expect(text).toContain("workers also have NAME.apps.example.org");
  expect(text).toContain("by root");
});

test("the dashboard adds a requested host, and undo removes it", async () => {
  const dashboard = await openHosts();
  dashboard.press("ja");
  await dashboard.waitFor("done: todos.example.org leads to todos");
  expect(bodyOf(dashboard)).toEqual({ worker: "todos" });
  dashboard.press("U");
  await dashboard.waitFor("done: todos.example.org leads to no worker");
});

test("the dashboard adds a host that the user types", async () => {
  const dashboard = await openHosts();
  dashboard.press("c");
  await dashboard.waitFor("new host:");
  dashboard.press(`new.example.org @team/shop ^2${keys.enter}`);
  await dashboard.waitFor("done: new.example.org leads to @team/shop");
  expect(bodyOf(dashboard)).toEqual({ worker: "@team/shop", version: "^2" });
});

test("the dashboard removes a host only after the user types its name", async () => {
  const dashboard = await openHosts();
  dashboard.press("d");
  await dashboard.waitFor("Remove shop.example.org; requests to it no longer reach @team/shop");
  dashboard.press(keys.esc);
  await dashboard.waitFor("note: nothing changed");
  expect(dashboard.transport.changes()).toEqual([]);
  dashboard.press(`dshop.example.org${keys.enter}`);
  await dashboard.waitFor("done: shop.example.org leads to no worker");
  expect(dashboard.text()).not.toContain("@team/shop");
});

test("the dashboard does not change hosts without the permission workers:install", async () => {
  const dashboard = await openHosts({}, { "/api/admin/session": sessionOf(["workers:read"]) });
  for (const key of ["c", "d"]) {
    dashboard.press(key);
    await dashboard.waitFor("workers:install");
  }
  expect(dashboard.transport.changes()).toEqual([]);
});

test.each([
  ["shop.example.org @team/shop", { host: "shop.example.org", worker: "@team/shop", version: undefined }],
  ["Shop.Example.org.  shop   ^1", { host: "shop.example.org", worker: "shop", version: "^1" }],
  ["127.0.0.1 shop", "127.0.0.1 is not a host name such as shop.example.org"],
  ["shop.example.org", "the name of the worker is missing"],
  ["shop.example.org A/B", "A/B is not the name of a worker"],
  ["shop.example.org shop ^1 more", "there is text after the version"],
])("the dashboard parses the typed host %s as %j", (text, expected) => {
  expect(parseHostTarget(text)).toEqual(expected);
});

test("the dashboard sends no request when the user types an invalid host", async () => {
  const dashboard = await openHosts();
  dashboard.press("c");
  await dashboard.waitFor("new host:");
  dashboard.press(`bad_host shop${keys.enter}`);
  await dashboard.waitFor("failed: bad_host is not a host name");
  expect(dashboard.transport.changes()).toEqual([]);
});

test.each(["host.added", "worker.installed"])("the dashboard shows a host that another client adds, after the event %s", async (type) => {
  const events = new FakeStream();
  const hosts = [added];
  const answers = { "/api/events": events, "/api/hosts": () => ({ hosts, requested: [{ host: "todos.example.org", worker: "todos" }] }) };
  const dashboard = await openHosts({ refreshMs: 600_000 }, answers);
  await expect.poll(() => events.readerCount).toBe(1);
  hosts.push({ ...added, host: "second.example.org" });
  events.send({ id: 1, type, at: 0 } as { id: number });
  await dashboard.waitFor("second.example.org");
});
