import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import path from "node:path";
import { endProcess } from "../end-process.js";
import { NoSpawnSocket, type SpawnOrder, type SpawnerOrder, type SpawnReport } from "./messages.js";

/**
 * The spawner process, which starts processes for the daemon. fork(2) copies the page tables of the caller. In the daemon, this would block
 * requests for 2 ms or more. In this small process, it takes 1 ms and blocks no request.
 */
const socketPath = process.argv[2] as string;
const children = new Map<string, ChildProcess>();

// Ignores the signals that a terminal sends to all processes. The daemon handles them and then stops the spawner.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
process.on("message", (order: SpawnerOrder) => {
  if ("kill" in order) children.get(order.kill)?.kill("SIGKILL");
  else void spawnProcess(order);
});
if (process.connected) process.once("disconnect", leave);
// Exits immediately if the daemon exited before the listener was added.
else leave();

/** Kills all child processes and ends, because the daemon has exited. */
function leave(): void {
  for (const child of children.values()) child.kill("SIGKILL");
  rmSync(path.dirname(socketPath), { recursive: true, force: true });
  endProcess();
}

async function spawnProcess({ id, file, args, workingDirectory, descriptors }: SpawnOrder): Promise<void> {
  const sockets = new Map<number, Socket>();
  try {
    for (const descriptor of descriptors) sockets.set(descriptor, await openSocket(`${id}${descriptor}`));
    // Keeps child processes in the session of the daemon. With CPU scheduling by session (autogroup), a detached isolate would receive as
    // much CPU time as the daemon.
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

/** Opens a socket to the daemon for a child process. The spawner does not read from this socket. */
async function openSocket(greeting: string): Promise<Socket> {
  const socket = connect(socketPath).pause();
  // Ignores the event, because the code below reports the error. The daemon closes the socket if the daemon has no free file descriptor.
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
  // Ignores an error of `send`, because it means that the daemon has exited.
  if (process.connected) process.send?.(what, undefined, undefined, () => undefined);
}
