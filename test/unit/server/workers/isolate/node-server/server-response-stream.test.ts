import { describe, expect, test } from "vitest";
import { ServerResponseStream } from "../../../../../../src/server/workers/isolate/node-server/server-response-stream.js";

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("the body stream of a Node.js server's response", () => {
  test("completes a write in a later turn of the event loop when the reader is ready", async () => {
    const stream = new ServerResponseStream({ onCancel: () => undefined });
    const reader = stream.readable.getReader();
    let ended = 0;
    stream.write([Buffer.from("first")], () => (ended += 1));
    expect(Buffer.from((await reader.read()).value as Uint8Array).toString()).toBe("first");
    await turn();
    await turn();
    expect(ended).toBe(0);
    const next = reader.read();
    // Microtasks and `process.nextTick` run in the same turn.
    await new Promise((resolve) => process.nextTick(resolve));
    expect(ended).toBe(0);
    await turn();
    await turn();
    expect(ended).toBe(1);
    stream.end();
    expect((await next).done).toBe(true);
  });

  test("completes a waiting write when the reader cancels the stream", async () => {
    let cancelled = 0;
    const stream = new ServerResponseStream({ onCancel: () => (cancelled += 1) });
    let ended = 0;
    stream.write([Buffer.from("first")], () => (ended += 1));
    await stream.readable.cancel();
    expect([ended, cancelled]).toEqual([1, 1]);
    stream.write([Buffer.from("ignored")], () => (ended += 1));
    expect(ended).toBe(2);
  });
});
