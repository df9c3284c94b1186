import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FrameKind } from "../../src/server/workers/protocol/frames.js";
import { WorkerServer } from "../support/worker-server.js";

/** Replaces its response by one with a body of 1-byte frames. The bytes stay below the credit of the daemon. */
const attacker = `
const channel = process._getActiveHandles().find((handle) => handle?._handle?.fd === 3);
const { write } = channel;
const frame = (kind, id, payload) => {
  const bytes = Buffer.alloc(9 + payload.length);
  bytes.writeUInt32LE(payload.length, 0);
  bytes[4] = kind;
  id.copy(bytes, 5);
  payload.copy(bytes, 9);
  return bytes;
};
channel.write = function (piece, ...rest) {
  if (piece[4] !== ${FrameKind.FullResponse}) return write.call(this, piece, ...rest);
  const id = Buffer.from(piece.subarray(5, 9));
  const head = Buffer.alloc(10);
  head.writeUInt16LE(200, 0);
  head.writeDoubleLE(-1, 2);
  const chunk = frame(${FrameKind.Chunk}, id, Buffer.from("x"));
  return write.call(this, Buffer.concat([frame(${FrameKind.ResponseHead}, id, head), ...Array(20_000).fill(chunk)]), ...rest);
};
export default { fetch: () => new Response("as usual") };`;

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
  await server.add("attacker", { files: { "index.js": attacker } });
});
afterAll(() => server.stop());

test("the daemon kills an isolate that sends more 1-byte chunks than its credit allows", async () => {
  const socket = connect(server.port, "127.0.0.1");
  socket.write("GET /attacker/ HTTP/1.1\r\nHost: a\r\n\r\n");
  // The client does not read, so no credit is returned.
  socket.pause();
  const log = () => server.logs.readMemory(["attacker"], { limit: 100 }).entries.map(({ text }) => text);
  await expect.poll(log).toContainEqual(expect.stringContaining("the isolate sent body bytes without credit"));
  socket.resume();
  let text = "";
  socket.on("data", (chunk) => (text += String(chunk)));
  await once(socket, "close");
  expect(text).not.toContain("\r\n0\r\n\r\n");
});
