// The program of `npm start`. Checks that the port is free, builds changed parts, and runs the daemon of the quick start in this process.
import { spawnSync } from "node:child_process";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

const port = process.env.PORT || "8000";
const host = process.env.HOST || "127.0.0.1";

const problem = await portProblem();
if (problem) {
  process.stderr.write(`${problem}\n`);
  process.exit(1);
}
process.stdout.write("runtimed: building what has changed\n");
const { status } = spawnSync(process.execPath, [fileURLToPath(new URL("build.mjs", import.meta.url)), "--progress"], { stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);
await import("../dist/server/quick-start.js");

/** Returns the reason why the daemon cannot listen. Undefined if the daemon can listen, or if the daemon itself will report the failure. */
async function portProblem() {
  const error = await new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ port, host }, () => server.close(resolve));
  }).catch((failure) => failure);
  if (error?.code !== "EADDRINUSE") return undefined;
  const isOurs = await fetch(`http://${host}:${port}/.well-known/runtime`, { signal: AbortSignal.timeout(1000) })
    .then(async (answer) => (await answer.json()).name === "runtimed")
    .catch(() => false);
  if (!isOurs) return `Another program uses port ${port} of ${host}. Stop it, or choose another port: PORT=8001 npm start`;
  // Two daemons cannot share a state directory, so the message suggests another port and another state directory.
  return `A daemon of this runtime serves at http://${host}:${port} already. Stop it, or start a second one with another port and state directory: PORT=8001 RUNTIME_STATE_DIR=.runtime/state-8001 npm start`;
}
