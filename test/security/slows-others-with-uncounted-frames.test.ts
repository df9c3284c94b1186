import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FrameKind } from "../../src/server/workers/protocol/frames.js";
import { WorkerServer } from "../support/worker-server.js";

/** Writes `count` frames of one kind into the channel to the daemon and never responds. */
const attacker = `
import { writeSync } from "node:fs";
export default { fetch(request) {
  const query = new URL(request.url).searchParams;
  if (!query.has("kind")) return new Response("ok");
  const payload = Buffer.from(query.get("payload") ?? "");
  const frame = Buffer.alloc(9 + payload.length);
  frame.writeUInt32LE(payload.length, 0);
  frame[4] = Number(query.get("kind"));
  payload.copy(frame, 9);
  const frames = Buffer.concat(Array.from({ length: Number(query.get("count")) }, () => frame));
  for (let at = 0; at < frames.length; ) {
    try {
      at += writeSync(3, frames, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
  return new Promise(() => {});
} };`;

describe("a worker that writes forged frames to the daemon", () => {
  let server: WorkerServer;

  beforeAll(async () => {
    server = await WorkerServer.start();
    await server.add("neighbor", { files: { "index.js": "export default { fetch: () => new Response(String(process.pid)) };" } });
  });
  afterAll(() => server.stop());

  it.each([
    ["Ready", { kind: FrameKind.Ready }, "the isolate sent a ready frame outside of its start"],
    ["Loaded", { kind: FrameKind.Loaded }, "the isolate sent a loaded frame outside of its start"],
    ["LoadFailed", { kind: FrameKind.LoadFailed, payload: "{}" }, "the isolate reported a load failure while it loaded no worker"],
    ["a LoadFailed frame with invalid JSON", { kind: FrameKind.LoadFailed, payload: "{" }, "the isolate sent a malformed frame"],
    [
      "200,000 UncaughtError",
      { kind: FrameKind.UncaughtError, count: 200_000 },
      "the isolate exceeded the frame rate limit of its channel",
    ],
    [
      "200,000 Log",
      { kind: FrameKind.Log, payload: "\u0001x", count: 200_000 },
      "the isolate exceeded the frame rate limit of its channel",
    ],
  ])("is killed, and requests to other workers succeed (frames: %s)", async (_, { kind, payload = "", count = 1 }: Frames, reason) => {
    const name = `attacker-${kind}-${payload.length}`;
    await server.add(name, { files: { "index.js": attacker }, manifest: { timeout: "20s" } });
    const pid = await server.text("/neighbor/");
    const query = new URLSearchParams({ kind: String(kind), payload, count: String(count) });
    const refusal = await server.refusal(`/${name}/?${query.toString()}`);
    expect(refusal).toMatchObject({ status: 502, code: "WORKER_CRASHED" });
    expect(refusal.message).toBe(`The worker's process was killed because ${reason} during the request.`);
    expect(await server.text("/neighbor/")).toBe(pid);
    await expect.poll(() => server.text(`/${name}/`)).toBe("ok");
  });
});

interface Frames {
  readonly kind: number;
  readonly payload?: string;
  readonly count?: number;
}
