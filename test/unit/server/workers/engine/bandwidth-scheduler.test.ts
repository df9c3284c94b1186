import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { BandwidthScheduler } from "../../../../../src/server/workers/engine/bandwidth-scheduler.js";
import { WorkerMeter } from "../../../../../src/server/workers/engine/worker-meter.js";

/** Much more than the bytes of one immediate turn. */
const bytes = 64_000;

function begin() {
  const scheduler = new BandwidthScheduler(1_000_000);
  const meter = new WorkerMeter("app", "1.0.0");
  const turns: string[] = [];
  const createShare = (name: string) => scheduler.createShare(meter, () => turns.push(name));
  return { scheduler, meter, turns, createShare };
}

describe("the rate of streamed bodies", () => {
  test("is unlimited while no other worker receives requests", () => {
    const { scheduler, meter, turns, createShare } = begin();
    const body = createShare("body");
    for (let turn = 0; turn < 3; turn += 1) {
      body.ask(bytes);
      scheduler.noteCall();
      meter.beganCount += 1;
    }
    expect(turns).toEqual(["body", "body", "body"]);
    expect(body.waitingBytes).toBe(0);
  });

  test("is limited while other workers have requests, and bodies are sent in turns", async () => {
    const { scheduler, turns, createShare } = begin();
    const [first, second, third, over] = ["first", "second", "third", "over"].map(createShare);
    scheduler.noteCall();
    for (const body of [first!, over!, second!, third!]) body.ask(bytes);
    expect(turns).toEqual(["first"]);
    expect(second!.waitingBytes).toBe(bytes);
    over!.close();
    const beganMs = performance.now();
    while (turns.length < 3) await delay(5);
    expect(turns).toEqual(["first", "second", "third"]);
    expect(performance.now() - beganMs).toBeGreaterThan(100);
    expect(third!.waitingBytes).toBe(0);
  });

  test("is unlimited again 150 ms after the last request of another worker", async () => {
    const { scheduler, turns, createShare } = begin();
    const body = createShare("body");
    scheduler.noteCall();
    body.ask(1);
    await delay(150);
    body.ask(bytes);
    body.ask(bytes);
    expect(turns).toEqual(["body", "body", "body"]);
  });
});
