import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LogFollower, logOperations, pageSize } from "../../../src/cpanel/pages/logs/log-follower.js";
import { readAllEntries } from "../../../src/cpanel/pages/logs/log-export.js";
import { createClient } from "../../../src/shared/client.js";
import { WireAnswer } from "../../support/fake-daemon.js";
import { FakeStream, FakeTransport } from "../../support/fake-transport.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const entry = (id: number, text = `line ${id}`) => ({
  id,
  time: id,
  worker: "@team/shop",
  version: "1.0.0",
  level: "info",
  source: "app",
  text,
});

/** `answer` is the response to requests for the log, `events` to requests for the event stream. */
function follow(answer: unknown, events: unknown = new FakeStream([])) {
  const transport = new FakeTransport({ "/api/workers/%40team/shop/logs": answer, "/api/events": events });
  const follower = new LogFollower(createClient(transport.send, "/api", logOperations), { worker: "@team/shop", level: "info" });
  return { transport, follower };
}

/** A client whose daemon responds with these pages, one after the other. */
function exporting(pages: readonly object[]) {
  const left = [...pages];
  const transport = new FakeTransport({ "/api/workers/%40team/shop/logs": () => left.shift() });
  return { transport, client: createClient(transport.send, "/api", logOperations) };
}

const rowsOf = (...ids: readonly number[]) => ids.map((id) => ({ key: `entry ${id}`, entry: { id } }));
const logRequests = ({ transport }: ReturnType<typeof follow>) => transport.requests.filter(({ path }) => path.includes("/logs"));

test("the log follower adds and counts log entries", async () => {
  const stream = new FakeStream([entry(1), entry(2)]);
  const { follower } = follow(stream);
  await vi.advanceTimersByTimeAsync(100);
  expect(follower.state.get()).toMatchObject({ phase: "live", total: 2, rows: rowsOf(1, 2), isPartial: false });
  stream.send(entry(3));
  await vi.advanceTimersByTimeAsync(100);
  expect(follower.state.get()).toMatchObject({ total: 3, rows: rowsOf(1, 2, 3) });
  follower.close();
});

test("the log follower keeps the newest 100,000 rows", async () => {
  const stream = new FakeStream(Array.from({ length: 100_500 }, (_, index) => entry(index + 1)));
  const { follower } = follow(stream);
  await vi.advanceTimersByTimeAsync(100);
  const { rows, total, hasOlder, isPartial } = follower.state.get();
  expect([total, rows.length, rows[0]?.key, rows.at(-1)?.key]).toEqual([100_500, 100_000, "entry 501", "entry 100500"]);
  expect({ hasOlder, isPartial }).toEqual({ hasOlder: false, isPartial: true });
  follower.close();
});

test("the log follower keeps only the newest entries when the text exceeds 16 MB", async () => {
  const stream = new FakeStream(Array.from({ length: 20 }, (_, index) => entry(index + 1, "x".repeat(900_000))));
  const { follower } = follow(stream);
  await vi.advanceTimersByTimeAsync(100);
  expect(follower.state.get().rows).toMatchObject(rowsOf(...Array.from({ length: 18 }, (_, index) => index + 3)));
  follower.close();
});

test("the log follower shows an earlier event only after loading the older entries", async () => {
  const installed = { id: 1, type: "worker.installed", at: 3, subject: { name: "@team/shop", version: "1.0.0" } };
  const events = new FakeStream([installed, { ...installed, id: 2, type: "worker.crashed", at: 11 }]);
  const stream = new FakeStream(Array.from({ length: pageSize }, (_, index) => entry(index + 10)));
  const { transport, follower } = follow(stream, events);
  await vi.advanceTimersByTimeAsync(100);
  expect(follower.state.get()).toMatchObject({ hasOlder: true, total: pageSize });
  expect(follower.state.get().rows.slice(0, 3)).toMatchObject([...rowsOf(10, 11), { key: "event 2" }]);
  const path = "/api/workers/%40team/shop/logs";
  transport.answers[path] = { entries: [entry(2), entry(4)], hasMore: false };
  await follower.loadOlder();
  expect(transport.requests.at(-1)?.path).toContain("before=10");
  expect(follower.state.get().rows.slice(0, 4)).toMatchObject([...rowsOf(2), { key: "event 1" }, ...rowsOf(4, 10)]);
  expect(follower.state.get().hasOlder).toBe(false);
  follower.close();
});

test("notices have unique row keys, and are ignored when older entries are requested", async () => {
  const notice = { ...entry(0, "Entries of the daemon b are missing from here on."), time: 10_001, instance: "b", isNotice: true };
  const entries = Array.from({ length: pageSize }, (_, index) => ({ ...entry(index + 10), instance: "b" }));
  const { transport, follower } = follow(new FakeStream([...entries, notice, { ...notice, time: 10_002 }]));
  await vi.advanceTimersByTimeAsync(100);
  const keys = follower.state.get().rows.map(({ key }) => key);
  expect(keys.slice(-2)).toEqual(["entry notice at 10001 of b", "entry notice at 10002 of b"]);
  const problem = "It did not respond within 2 s.";
  const instances = [
    { name: "a", id: "1" },
    { name: "b", id: "2", problem },
  ];
  transport.answers["/api/workers/%40team/shop/logs"] = { entries: [], hasMore: true, before: "b:10", instances };
  await expect(follower.loadOlder()).rejects.toThrow(`Entries of b are missing. ${problem}`);
  expect(transport.requests.at(-1)?.path).toContain("before=b%3A10");
  expect(follower.state.get().hasOlder).toBe(true);
  follower.close();
});

test("a log export names an unresponsive daemon, and ends without the daemon's entries", async () => {
  const instances = [{ name: "b", id: "2", problem: "It is away." }];
  const pages = [
    { entries: [entry(3)], hasMore: true, before: "a:3,b:9", instances },
    { entries: [entry(2)], hasMore: true, before: "a:2,b:9", instances },
    { entries: [], hasMore: true, before: "a:0,b:9", instances },
  ];
  const { transport, client } = exporting(pages);
  const { entries, missing } = await readAllEntries(client, { worker: "@team/shop" });
  expect([entries.map(({ id }) => id), missing]).toEqual([[2, 3], "Entries of b are missing. It is away."]);
  expect(transport.requests).toHaveLength(3);
});

test("a log export of one daemon requests each page before the oldest received entry", async () => {
  const pages = [
    { entries: [entry(3)], hasMore: true },
    { entries: [entry(1), entry(2)], hasMore: false },
  ];
  const { transport, client } = exporting(pages);
  expect((await readAllEntries(client, { worker: "@team/shop" })).entries.map(({ id }) => id)).toEqual([1, 2, 3]);
  expect(transport.requests.at(-1)?.path).toContain("before=3");
});

const entryOf = (instance: string, id: number, time: number) => ({ ...entry(id), time, instance });

test("the log follower sorts entries of daemons by time, and loads older entries", async () => {
  const first = Array.from({ length: pageSize - 2 }, (_, index) => entryOf("eu-1", 100 + index, 1000 + index));
  const stream = new FakeStream([entryOf("eu-2", 7, 500), entryOf("eu-1", 99, 501), ...first]);
  const { transport, follower } = follow(stream);
  await vi.advanceTimersByTimeAsync(100);
  stream.send(entryOf("eu-2", 8, 1001));
  stream.send(entryOf("eu-1", 99_999, 90_000));
  await vi.advanceTimersByTimeAsync(100);
  const { rows } = follower.state.get();
  expect(rows).toHaveLength(pageSize + 2);
  expect(rows.map(({ at }) => at)).toEqual(rows.map(({ at }) => at).toSorted((one, other) => one - other));
  expect(rows.at(4)?.entry).toMatchObject({ id: 8, instance: "eu-2" });
  transport.answers["/api/workers/%40team/shop/logs"] = { entries: [], hasMore: false };
  await follower.loadOlder();
  expect(decodeURIComponent(transport.requests.at(-1)?.path ?? "")).toContain("before=eu-2:7,eu-1:99");
  follower.close();
});

test("the log follower continues after the last received entry after a lost connection", async () => {
  const stream = new FakeStream([entry(7)]);
  const { transport, follower } = follow(stream);
  const resumed: unknown[] = [];
  await vi.advanceTimersByTimeAsync(100);
  Object.assign(transport.answers, {
    "/api/workers/%40team/shop/logs": (request: { headers: Record<string, string> }) => {
      resumed.push(request.headers["last-event-id"]);
      return stream;
    },
  });
  stream.fail(new Error("lost"));
  await vi.advanceTimersByTimeAsync(0);
  expect(follower.state.get().phase).toBe("lost");
  await vi.advanceTimersByTimeAsync(1000);
  expect(follower.state.get().phase).toBe("live");
  expect(resumed).toEqual(["7"]);
  follower.close();
});

test("the log follower stops after a 404 response, and retries after a 401 response", async () => {
  const refused = follow(WireAnswer.refusal(404, "WORKER_NOT_FOUND", "gone"));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(refused.follower.state.get()).toMatchObject({ phase: "refused", error: { code: "WORKER_NOT_FOUND" } });
  expect(logRequests(refused)).toHaveLength(1);
  const ended = follow(WireAnswer.refusal(401, "AUTH_REQUIRED", "sign in"));
  await vi.advanceTimersByTimeAsync(1000);
  expect(ended.follower.state.get().phase).toBe("lost");
  expect(logRequests(ended)).toHaveLength(2);
  ended.follower.close();
});

test("the log follower closes the log stream when the caller closes the follower", async () => {
  const stream = new FakeStream([entry(1)]);
  const { follower } = follow(stream);
  await vi.advanceTimersByTimeAsync(100);
  follower.close();
  expect(stream.readerCount).toBe(0);
});
