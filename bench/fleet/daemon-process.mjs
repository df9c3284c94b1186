// A process with several simulated daemons. Its parent sends requests `{ id, command, ... }` and receives `{ id, result }` or `{ id, problem }`.
import childProcess from "node:child_process";
import { channel } from "node:diagnostics_channel";
import { syncBuiltinESMExports } from "node:module";
import { syncNow } from "../../build/server/access/replica/syncer/sync-job.js";
import { machineMs, SimulatedDaemon } from "./simulated-daemon.mjs";

const [primaryUrl] = process.argv.slice(2);
const daemons = [];
/** Times at which daemons received changes: `{ name, atMs }`, one entry per daemon and change. */
let seen = [];
const counts = { requests: 0, syncs: 0 };

channel("undici:request:create").subscribe(() => (counts.requests += 1));
// Counts the messages to the syncer processes. `syncBuiltinESMExports` replaces `fork` also in modules that import it by name.
const { fork } = childProcess;
childProcess.fork = (...args) => {
  const child = fork(...args);
  const send = child.send.bind(child);
  child.send = (message, ...rest) => {
    if (message === syncNow) counts.syncs += 1;
    return send(message, ...rest);
  };
  return child;
};
syncBuiltinESMExports();

const commands = {
  async open({ home }) {
    const startedAtMs = machineMs();
    const daemon = await SimulatedDaemon.open(home, primaryUrl);
    const openMs = machineMs() - startedAtMs;
    daemon.packages.follow((changes) => {
      const atMs = machineMs();
      for (const change of changes) seen.push({ name: change.name, atMs });
    });
    daemons.push(daemon);
    return { openMs };
  },
  async read() {
    const taken = seen;
    seen = [];
    return { seen: taken, ...counts };
  },
  async measureMemory() {
    globalThis.gc();
    return { heapBytes: process.memoryUsage().heapUsed };
  },
  async close() {
    await Promise.all(daemons.splice(0).map((daemon) => daemon.close()));
    return {};
  },
};

process.on("message", async ({ id, command, ...options }) => {
  try {
    process.send({ id, result: await commands[command](options) });
  } catch (error) {
    process.send({ id, problem: error.stack });
  }
});
process.on("disconnect", () => process.exit(0));
