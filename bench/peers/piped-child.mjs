// Lower bound for a design with one process per worker: node:http pipes bytes to a child process, one transfer at a time, without framing,
// checks, flow control and web objects.
import { spawn } from "node:child_process";
import http from "node:http";
import { Socket } from "node:net";
import { Readable } from "node:stream";

const channelDescriptor = 3;
if (process.argv[2] === "child") serveChannel();
else serveClients();

function serveClients() {
  const isolate = spawn(process.execPath, [import.meta.filename, "child"], { stdio: ["ignore", "inherit", "inherit", "pipe"] });
  const channel = isolate.stdio[channelDescriptor];
  const server = http.createServer((request, response) => {
    const bytes = Number(request.method === "GET" ? new URL(request.url, "http://localhost").searchParams.get("bytes") : 0);
    // Number of bytes to send and number of bytes to receive.
    const order = Buffer.alloc(16);
    order.writeDoubleLE(bytes, 0);
    order.writeDoubleLE(Number(request.headers["content-length"] ?? 0), 8);
    channel.write(order);
    if (request.method === "GET") passDown(channel, response, bytes);
    else {
      request.pipe(channel, { end: false });
      channel.once("data", (total) => response.end(total)).resume();
    }
  });
  server.listen(0, "127.0.0.1", () => console.log(`listening ${server.address().port}`));
  process.on("SIGTERM", () => process.exit());
}

/** Pipes the request to the child, and ends the response after `bytes` bytes. */
function passDown(channel, response, bytes) {
  let left = bytes;
  channel.pipe(response, { end: false });
  const count = (piece) => {
    left -= piece.length;
    if (left > 0) return;
    channel.off("data", count);
    channel.unpipe(response);
    response.end();
  };
  channel.on("data", count);
}

function serveChannel() {
  const socket = new Socket({ fd: channelDescriptor, readable: true, writable: true });
  const chunk = Buffer.alloc(64 * 1024, "x");
  let taken = 0;
  let wanted = 0;
  socket.on("data", (piece) => {
    let body = piece;
    if (wanted === 0) {
      const bytes = piece.readDoubleLE(0);
      wanted = piece.readDoubleLE(8);
      body = piece.subarray(16);
      if (wanted === 0) send(bytes);
    }
    taken += body.length;
    if (wanted === 0 || taken < wanted) return;
    socket.write(String(taken));
    taken = wanted = 0;
  });
  socket.on("close", () => process.exit());

  function send(bytes) {
    let left = bytes;
    const source = new Readable({
      read() {
        this.push(left > 0 ? (left < chunk.length ? chunk.subarray(0, left) : chunk) : null);
        left -= chunk.length;
      },
    });
    source.pipe(socket, { end: false });
  }
}
