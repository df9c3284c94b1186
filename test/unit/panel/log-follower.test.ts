import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LogFollower, logOperations } from "../../../src/cpanel/pages/apps/logs/log-follower.js";
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

function follow(answer: unknown) {
  const transport = new FakeTransport({ "/api/workers/%40team/shop/logs": answer });
  const query = { level: "info", version: undefined, text: undefined } as const;
  return { transport, follower: new LogFollower(createClient(transport.send, "/api", logOperations), "@team/shop", query) };
}

test("adds and counts log entries", async () => {
  const stream = new FakeStream([entry(1), entry(2)]);
  const { follower } = follow(stream);
  await vi.advanceTimersByTimeAsync(100);
  expect(follower.state.get()).toMatchObject({ phase: "live", total: 2, entries: [{ id: 1 }, { id: 2 }] });
  stream.send(entry(3));
  await vi.advanceTimersByTimeAsync(100);
  expect(follower.state.get()).toMatchObject({ total: 3, entries: [{ id: 1 }, { id: 2 }, { id: 3 }] });
  follower.close();
});

test("keeps the newest 1000 log entries", async () => {
  const stream = new FakeStream(Array.from({ length: 1500 }, (_, index) => entry(index + 1)));
  const { follower } = follow(stream);
  await vi.advanceTimersByTimeAsync(100);
  const { entries, total } = follower.state.get();
  expect([total, entries.length, entries[0]?.id, entries.at(-1)?.id]).toEqual([1500, 1000, 501, 1500]);
  follower.close();
});

test("keeps only the newest log entries when the text exceeds 2 MB", async () => {
  const stream = new FakeStream(Array.from({ length: 5 }, (_, index) => entry(index + 1, "x".repeat(600_000))));
  const { follower } = follow(stream);
  await vi.advanceTimersByTimeAsync(100);
  expect(follower.state.get().entries.map(({ id }) => id)).toEqual([3, 4, 5]);
  follower.close();
});

test("continues after the last received entry when the connection was lost", async () => {
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

test("stops after a 404 response, and tries again after a 401 response", async () => {
  const refused = follow(WireAnswer.refusal(404, "WORKER_NOT_FOUND", "gone"));
  await vi.advanceTimersByTimeAsync(30_000);
  expect(refused.follower.state.get()).toMatchObject({ phase: "refused", error: { code: "WORKER_NOT_FOUND" } });
  expect(refused.transport.requests).toHaveLength(1);
  const ended = follow(WireAnswer.refusal(401, "AUTH_REQUIRED", "sign in"));
  await vi.advanceTimersByTimeAsync(1000);
  expect(ended.follower.state.get().phase).toBe("lost");
  expect(ended.transport.requests).toHaveLength(2);
  ended.follower.close();
});

test("closes the log stream when the follower is closed", async () => {
  const stream = new FakeStream([entry(1)]);
  const { follower } = follow(stream);
  await vi.advanceTimersByTimeAsync(100);
  follower.close();
  expect(stream.readerCount).toBe(0);
});
