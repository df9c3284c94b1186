import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { MessageWatch } from "../../../src/server/workers/sockets/message-watch.js";
import { holdUp } from "../../support/hold-up.js";

/** An isolate that notes what the watch asks of it, and since when it is heard of. */
class Isolate {
  heard = 0;
  readonly asked: number[] = [];
  readonly heardMs = () => this.heard;
  readonly ask = (deadlineMs: number) => void this.asked.push(deadlineMs);
  readonly sweep = () => false;
}

test("asks an isolate that says nothing after a message whether it is blocked, once", async () => {
  const isolate = new Isolate();
  const watch = new MessageWatch(isolate);
  const sentMs = performance.now();
  watch.onMessage();
  await expect.poll(() => isolate.asked.length, { timeout: 5000 }).toBe(1);
  expect(isolate.asked[0]).toBeGreaterThanOrEqual(sentMs + 30_000);
  await delay(2500);
  expect(isolate.asked).toHaveLength(1);
});

test("asks none whose answer lay unread while the daemon was held up", async () => {
  const isolate = new Isolate();
  const watch = new MessageWatch(isolate);
  watch.onMessage();
  await holdUp(2500);
  // As reading does: after the timers that were due.
  setImmediate(() => {
    isolate.heard = performance.now();
  });
  await delay(2500);
  expect(isolate.asked).toEqual([]);
});
