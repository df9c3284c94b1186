// Lower bound for a server with one Node process per app. A request for /N sends one byte over a socket pair to child N of COUNT, and the
// child sends it back. Uses no frames and no `Request`, and checks nothing.
import { spawn } from "node:child_process";
import http from "node:http";
import { fileURLToPath } from "node:url";

const [count] = process.argv.slice(2);
const program = fileURLToPath(new URL("forked-echo-child.mjs", import.meta.url));

/** Starts a child. Resolves after the first response of the child. */
async function start() {
  const channel = spawn(process.execPath, [program], { stdio: ["ignore", "ignore", "inherit", "pipe"] }).stdio[3];
  const waiting = [];
  channel.on("data", (bytes) => {
    for (let index = 0; index < bytes.length; index += 1) waiting.shift().end("ok");
  });
  await new Promise((resolve) => {
    waiting.push({ end: resolve });
    channel.write("x");
  });
  return { channel, waiting };
}

const children = [];
while (children.length < Number(count)) children.push(await start());
const server = http.createServer((request, response) => {
  const { channel, waiting } = children[Number(request.url.slice(1))];
  waiting.push(response);
  channel.write("x");
});
server.listen(0, "127.0.0.1", () => console.log(`listening ${server.address().port}`));
process.on("SIGTERM", () => process.exit());
