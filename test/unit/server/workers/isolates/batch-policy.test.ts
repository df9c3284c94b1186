import { describe, expect, it } from "vitest";
import { BatchPolicy } from "../../../../../src/server/workers/isolates/batch-policy.js";

/** Runs `waves` of so many calls that arrive together and are all answered before the next; returns the sizes of a wave's batches. */
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
    // At the end of a turn of the event loop the rest goes.
    if (waiting > 0) sizes.push(waiting);
  }
  return sizes;
}

describe("the hand-over of calls to an isolate", () => {
  it("sends a lone call at once", () => {
    expect(batches(new BatchPolicy(), 1, 3)).toEqual([1]);
  });

  it.each([
    [2, [1, 1]],
    [32, [16, 16]],
    [33, [17, 16]],
    [256, [128, 128]],
  ])("sends %i that come together in two halves", (callCount, sizes) => {
    expect(batches(new BatchPolicy(), callCount, 3)).toEqual(sizes);
  });

  it("forgets how many there once were", () => {
    const handOver = new BatchPolicy();
    batches(handOver, 256, 100);
    expect(batches(handOver, 4, 3), "all at the end of the turn").toEqual([4]);
    batches(handOver, 4, 1024);
    expect(batches(handOver, 4, 1)).toEqual([2, 2]);
  });
});
