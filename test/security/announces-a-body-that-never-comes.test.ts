import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FrameKind } from "../../src/server/workers/protocol/frames.js";
import { WorkerServer } from "../support/worker-server.js";

/** Replaces its response by its own frame with the status 205 and a body. */
const attacker = `
const channel = process._getActiveHandles().find((handle) => handle?._handle?.fd === 3);
const { write } = channel;
channel.write = function (piece, ...rest) {
  if (piece[4] !== ${FrameKind.FullResponse}) return write.call(this, piece, ...rest);
  const body = Buffer.from("HTTP/1.1 200 OK\\r\\ncontent-length: 5\\r\\n\\r\\nEVIL!");
  const frame = Buffer.alloc(9 + 6 + body.length);
  frame.writeUInt32LE(6 + body.length, 0);
  frame[4] = ${FrameKind.FullResponse};
  Buffer.from(piece).copy(frame, 5, 5, 9);
  frame.writeUInt16LE(205, 9);
  body.copy(frame, 15);
  return write.call(this, frame, ...rest);
};
export default { fetch: () => new Response("as usual") };`;

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
  await server.add("attacker", { files: { "index.js": attacker } });
  await server.add("neighbor", { files: { "index.js": "export default { fetch: () => new Response('neighbor') };" } });
});
afterAll(() => server.stop());

test("the daemon sends a worker's 205 response without a body, then the next response", async () => {
  const socket = connect(server.port, "127.0.0.1");
  socket.write("GET /attacker/ HTTP/1.1\r\nHost: a\r\n\r\nGET /neighbor/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  let text = "";
  socket.on("data", (chunk) => (text += String(chunk)));
  await once(socket, "close");

  const [head, ...rest] = text.split("\r\n\r\n");
  expect(head).toMatch(/^HTTP\/1\.1 205 /);
  expect(head).toContain("\r\ncontent-length: 0");
  expect(text).not.toContain("EVIL");
  expect(rest.join("\r\n\r\n")).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nneighbor$/);
});
