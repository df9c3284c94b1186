import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { MessageWatch } from "../../../src/server/workers/sockets/isolate-sockets.js";
import { holdUp } from "../../support/hold-up.js";

/** An isolate that records the probes of the watch and the time of its last message. */
class Isolate {
  heard = 0;
  readonly asked: number[] = [];
  readonly lastReadMs = () => this.heard;
  readonly ask = (deadlineMs: number) => void this.asked.push(deadlineMs);
  readonly sweep = () => false;
}

test("the daemon sends one liveness probe when a WebSocket message gets no response", async () => {
  const isolate = new Isolate();
  const watch = new MessageWatch(isolate);
  const sentMs = performance.now();
  watch.onMessage();
  await expect.poll(() => isolate.asked.length, { timeout: 5000 }).toBe(1);
  expect(isolate.asked[0]).toBeGreaterThanOrEqual(sentMs + 30_000);
  await delay(2500);
  expect(isolate.asked).toHaveLength(1);
});

test("a daemon that was blocked before it read a reply sends no liveness probe", async () => {
  const isolate = new Isolate();
  const watch = new MessageWatch(isolate);
  watch.onMessage();
  await holdUp(2500);
  // Reads come after the timers that were due.
  setImmediate(() => {
    isolate.heard = performance.now();
  });
  await delay(2500);
  expect(isolate.asked).toEqual([]);
});
