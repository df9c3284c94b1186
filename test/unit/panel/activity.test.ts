import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { filterActivity, fromAudit, fromEvent, toJsonLines } from "../../../src/cpanel/pages/activity/activity-entry.js";
import { ActivityFollower, activityOperations } from "../../../src/cpanel/pages/activity/activity-follower.js";
import { createClient } from "../../../src/shared/client.js";
import type { AuditEntry } from "../../../src/shared/contract/audit.js";
import type { RuntimeEvent } from "../../../src/shared/contract/events.js";
import { FakeStream, FakeTransport } from "../../support/fake-transport.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const principal = { id: 7, name: "ci", keyPrefix: "rtk_ci" };

const audit = (id: number, more: Partial<AuditEntry> = {}): AuditEntry => ({
  id,
  at: id * 1000,
  action: "worker.installed",
  outcome: "done",
  principal,
  clientAddress: "192.0.2.1",
  requestId: `request-${id}`,
  subject: { name: "shop", version: "1.0.0" },
  ...more,
});

const event = (id: number, more: Partial<RuntimeEvent> = {}): RuntimeEvent => ({
  id,
  at: id * 1000 + 500,
  type: "worker.crashed",
  subject: { name: "shop", version: "1.0.0" },
  message: "exited with code 1",
  ...more,
});

function follow(mayAudit: boolean, [auditEntries, events]: [readonly AuditEntry[], readonly RuntimeEvent[]]) {
  const stream = new FakeStream([...auditEntries]);
  const transport = new FakeTransport({
    "/api/audit": ({ path }: { path: string }) => {
      if (path.includes("follow=1")) return stream;
      return path.includes("before=3") ? { entries: [audit(1), audit(2)], hasMore: false } : { entries: auditEntries, hasMore: true };
    },
    "/api/events": new FakeStream([...events]),
  });
  return { stream, follower: new ActivityFollower(createClient(transport.send, "/api", activityOperations), { mayAudit }) };
}

const keysOf = (follower: ActivityFollower) => follower.state.get().entries.map(({ key }) => key);

test("the activity lists new entries first: audit entries and events without a request", async () => {
  const events = [event(3), event(4, { type: "worker.installed" }), event(5, { type: "stream.opened" })];
  const { stream, follower } = follow(true, [[audit(3), audit(4)], events]);
  await vi.advanceTimersByTimeAsync(100);
  expect(keysOf(follower)).toEqual(["audit 4", "event 3", "audit 3"]);
  stream.send(audit(5));
  await vi.advanceTimersByTimeAsync(100);
  expect(keysOf(follower)).toEqual(["audit 5", "audit 4", "event 3", "audit 3"]);
  follower.close();
});

test("the activity shows only events if the key cannot read the audit log", async () => {
  const { follower } = follow(false, [
    [audit(3)],
    [event(3), event(4, { type: "worker.installed", principal }), event(5, { type: "stream.gap" })],
  ]);
  await vi.advanceTimersByTimeAsync(100);
  expect(keysOf(follower)).toEqual(["event 4", "event 3"]);
  expect(follower.state.get()).toMatchObject({ hasOlder: false, entries: [{ who: "ci", outcome: "done" }, { outcome: "observed" }] });
  follower.close();
});

test("the activity adds older entries until the audit log has no older entries", async () => {
  const { follower } = follow(true, [[audit(3), audit(4)], []]);
  await vi.advanceTimersByTimeAsync(100);
  expect(follower.state.get().hasOlder).toBe(true);
  await follower.loadOlder();
  expect(keysOf(follower)).toEqual(["audit 4", "audit 3", "audit 2", "audit 1"]);
  expect(follower.state.get().hasOlder).toBe(false);
  follower.close();
});

test("the activity entry of a health change contains the new state", () => {
  expect(fromEvent(event(3, { type: "worker.health", state: "failing" }))).toMatchObject({ outcome: "observed", state: "failing" });
  expect(fromEvent(event(4)).state).toBeUndefined();
});

test("the activity is filtered by key, resource or action, outcome and text", () => {
  const refused = audit(2, { outcome: "refused", code: "PERMISSION_DENIED", action: "key.created", subject: { id: 9 } });
  const entries = [audit(1), refused].map(fromAudit).concat(fromEvent(event(3)));
  const keys = (filter: Partial<Parameters<typeof filterActivity>[1]>) =>
    filterActivity(entries, { search: "", who: "", action: "", outcome: "", instance: "", ...filter }).map(({ key }) => key);
  expect(keys({})).toEqual(["audit 1", "audit 2", "event 3"]);
  expect(keys({ who: "ci" })).toEqual(["audit 1", "audit 2"]);
  expect(keys({ action: "worker" })).toEqual(["audit 1", "event 3"]);
  expect(keys({ action: "key.created" })).toEqual(["audit 2"]);
  expect(keys({ outcome: "refused" })).toEqual(["audit 2"]);
  expect(keys({ search: "permission_denied" })).toEqual(["audit 2"]);
  expect(keys({ search: "EXITED" })).toEqual(["event 3"]);
});

test("the activity contains entries of several daemons, and can be filtered by daemon", async () => {
  const { follower } = follow(true, [[audit(3, { instance: "eu-1" }), audit(3, { instance: "eu-2" })], [event(3, { instance: "eu-2" })]]);
  await vi.advanceTimersByTimeAsync(100);
  const { entries } = follower.state.get();
  follower.close();
  expect(entries).toHaveLength(3);
  const filter = { search: "", who: "", action: "", outcome: "", instance: "eu-2" };
  expect(filterActivity(entries, filter).map(({ instance, action }) => [instance, action])).toEqual([
    ["eu-2", "worker.crashed"],
    ["eu-2", "worker.installed"],
  ]);
  expect(filterActivity(entries, { ...filter, instance: "", search: "eu-1" })).toHaveLength(1);
});

test.each([
  [{ name: "shop", version: "1.0.0" }, "shop 1.0.0"],
  [{ host: "shop.example.org", name: "shop" }, "shop.example.org of shop"],
  [{ secret: "API_KEY", namespaces: ["@team"] }, "API_KEY of @team"],
  [{ id: 7, name: "ci", replacedBy: 8 }, "ci → key 8"],
  [{ name: "shop", paths: ["a.js", "b.js"] }, "shop a.js, b.js"],
  [undefined, ""],
])("the activity shows the subject %j of an audit entry as text", (subject, text) => {
  expect(fromAudit(audit(1, { subject })).subject).toBe(text);
});

test("the activity exports the entries as lines of JSON, from the oldest to the newest", () => {
  const text = toJsonLines([fromEvent(event(2)), fromAudit(audit(1))]);
  expect(text.endsWith("\n")).toBe(true);
  expect(
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual([audit(1), event(2)]);
  expect(toJsonLines([])).toBe("");
});
