// Downloads or uploads one long body over a socket, to use little time in the client: stream-client.mjs down|up URL BYTES. Writes the bytes
// per second. Fails if bytes are missing.
import net from "node:net";

const [direction, address, size] = process.argv.slice(2);
const url = new URL(address);
const bytes = Number(size);
const headEnd = "\r\n\r\n";
const startedAtMs = performance.now();
const socket = net.connect({
  host: url.hostname,
  port: Number(url.port),
  // Reads everything into one buffer. Allocates nothing else, and keeps only the first and the last bytes.
  onread: { buffer: Buffer.alloc(256 * 1024), callback: direction === "down" ? readDown : readUp },
});
socket.on("error", fail);
let received = 0;
let answer = "";
let tail = "";

if (direction === "down") sendHead("GET", `${url.pathname}?bytes=${bytes}`, "");
else {
  sendHead("POST", url.pathname, `content-length: ${bytes}\r\n`);
  sendBody(bytes);
}
socket.on("close", () => (direction === "down" ? endDown() : endUp()));

function sendHead(method, target, lines) {
  socket.write(`${method} ${target} HTTP/1.1\r\nhost: ${url.host}\r\nconnection: close\r\n${lines}\r\n`);
}

function sendBody(total) {
  const chunk = Buffer.alloc(64 * 1024, "x");
  let left = total;
  const send = () => {
    while (left > 0) {
      const piece = left < chunk.length ? chunk.subarray(0, left) : chunk;
      left -= piece.length;
      if (!socket.write(piece)) return;
    }
    socket.off("drain", send);
  };
  socket.on("drain", send);
  send();
}

function readDown(count, buffer) {
  if (received === 0) answer = buffer.toString("latin1", 0, Math.min(count, 64));
  received += count;
  tail = buffer.toString("latin1", Math.max(0, count - 5), count);
  return true;
}

function readUp(count, buffer) {
  answer += buffer.toString("latin1", 0, count);
  return true;
}

/** The last chunk of a complete body is empty. If this chunk is missing, the body is incomplete. */
function endDown() {
  if (!answer.startsWith("HTTP/1.1 200 ")) fail(new Error(answer));
  if (received < bytes || tail !== `0${headEnd}`) fail(new Error(`${received} bytes came, the last were ${JSON.stringify(tail)}`));
  report();
}

function endUp() {
  if (!answer.startsWith("HTTP/1.1 200 ") || !new RegExp(`\\b${bytes}\\b`).test(answer.slice(answer.indexOf(headEnd))))
    fail(new Error(answer));
  report();
}

function report() {
  console.log(bytes / ((performance.now() - startedAtMs) / 1000));
}

function fail(error) {
  console.error(error.message);
  process.exit(1);
}
