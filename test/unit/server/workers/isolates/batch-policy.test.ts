import { describe, expect, it } from "vitest";
import { BatchPolicy } from "../../../../../src/server/workers/isolates/isolate-calls.js";

/** Runs `waves` of calls that arrive together and all complete before the next wave. Returns the batch sizes of the last wave. */
function batches(handOver: BatchPolicy, callCount: number, waves: number): number[] {
  let sizes: number[] = [];
  for (let wave = 0; wave < waves; wave += 1) {
    sizes = [];
    let waiting = 0;
    for (let running = 1; running <= callCount; running += 1) {
      waiting += 1;
      if (!handOver.isDue(waiting, running)) continue;
      sizes.push(waiting);
      waiting = 0;
    }
    // The rest is sent at the end of the event loop's turn.
    if (waiting > 0) sizes.push(waiting);
  }
  return sizes;
}

describe("the batch policy", () => {
  it("sends a single call immediately", () => {
    expect(batches(new BatchPolicy(), 1, 3)).toEqual([1]);
  });

  it.each([
    [2, [1, 1]],
    [32, [16, 16]],
    [33, [17, 16]],
    [256, [128, 128]],
  ])("divides %i simultaneous calls into two batches of similar size", (callCount, sizes) => {
    expect(batches(new BatchPolicy(), callCount, 3)).toEqual(sizes);
  });

  it("uses smaller batches when fewer calls arrive", () => {
    const handOver = new BatchPolicy();
    batches(handOver, 256, 100);
    expect(batches(handOver, 4, 3), "all at the end of the turn").toEqual([4]);
    batches(handOver, 4, 1024);
    expect(batches(handOver, 4, 1)).toEqual([2, 2]);
  });
});
