import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { NoSpawnSocket, type SpawnOrder, type SpawnerOrder, type SpawnReport } from "./messages.js";

/**
 * Starts processes for the daemon. To start one, Linux copies the page tables of whoever does it, and Node waits meanwhile: two
 * milliseconds and more in a daemon with much memory, one in here, where nobody waits.
 */
const socketPath = process.argv[2] as string;
const children = new Map<string, ChildProcess>();

// Meant for the daemon, which ends in its own time.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
process.on("message", (order: SpawnerOrder) => {
  if ("kill" in order) children.get(order.kill)?.kill("SIGKILL");
  else void spawnProcess(order);
});
if (process.connected) process.once("disconnect", leave);
// It ended before we came to listen.
else leave();

/** The daemon has ended, however: so does all that runs for it. */
function leave(): void {
  for (const child of children.values()) child.kill("SIGKILL");
  rmSync(path.dirname(socketPath), { recursive: true, force: true });
  process.exit();
}

async function spawnProcess({ id, file, args, workingDirectory, descriptors }: SpawnOrder): Promise<void> {
  const sockets = new Map<number, Socket>();
  try {
    for (const descriptor of descriptors) sockets.set(descriptor, await openSocket(`${id}${descriptor}`));
    // Not in a session of its own: kernels that share the processor by session would give the daemon no more than one isolate gets.
    const child = spawn(file, args, { env: {}, cwd: workingDirectory, stdio: stdioOf(sockets) });
    child.once("error", (error) => report({ id, failure: error.message }));
    child.once("exit", (status, signal) => {
      children.delete(id);
      report({ id, end: { status, signal } });
    });
    if (child.pid === undefined) return;
    children.set(id, child);
    report({ id, pid: child.pid });
  } catch (error) {
    report({ id, failure: error instanceof Error ? error.message : String(error) });
  } finally {
    for (const socket of sockets.values()) socket.destroy();
  }
}

/** A socket to the daemon that nobody reads from on this side. */
async function openSocket(greeting: string): Promise<Socket> {
  const socket = connect(socketPath).pause();
  // Told below; a daemon without a descriptor left closes what it has no room for.
  socket.on("error", () => undefined);
  try {
    await once(socket, "connect");
    await new Promise<void>((resolve, reject) => socket.write(greeting, (error) => (error ? reject(error) : resolve())));
    return socket;
  } catch (cause) {
    socket.destroy();
    throw new NoSpawnSocket({ cause });
  }
}

function stdioOf(sockets: ReadonlyMap<number, Socket>): StdioOptions {
  const length = Math.max(2, ...sockets.keys()) + 1;
  return Array.from({ length }, (_, descriptor) => sockets.get(descriptor) ?? "ignore");
}

function report(what: SpawnReport): void {
  // When it cannot be told, the daemon has just ended.
  if (process.connected) process.send?.(what, undefined, undefined, () => undefined);
}
