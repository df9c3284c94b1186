import childProcess from "node:child_process";
import cluster from "node:cluster";
import { syncBuiltinESMExports } from "node:module";
import net, { type Socket } from "node:net";
import os, { constants } from "node:os";
import traceEvents from "node:trace_events";
import v8 from "node:v8";
import type { WorkerNetwork } from "../../config/worker-network.js";
import { guardNetwork, prototypeOfHandle, prototypeOfUdpHandle, replaceMethods } from "./guard-network.js";
import dgram from "node:dgram";
import type { ListeningServers } from "./node-server/listening-servers.js";
import { restrictProcessReport } from "./process-report.js";

/**
 * Functions of `process` that `lockDown` removes. These functions can affect other processes or the machine, although the permission model
 * of Node.js is active.
 */
const takenFromProcess = [
  "kill",
  "_kill",
  "binding",
  "_linkedBinding",
  "execve",
  "_debugProcess",
  "_debugEnd",
  "_startProfilerIdleNotifier",
  "_stopProfilerIdleNotifier",
  "setuid",
  "seteuid",
  "setgid",
  "setegid",
  "setgroups",
  "initgroups",
];

const listenMessage =
  "A worker cannot listen on a socket path, descriptor or handle. Listen on a port number with a server of node:http, or export a fetch handler: the daemon serves it at the worker's path.";
const forkMessage =
  "A worker cannot start other processes, also not with node:cluster or child_process.fork. Set `instances` in the manifest: the daemon starts that many processes of the worker.";
const udpMessage =
  'A worker cannot open a UDP socket, not even to send, without the permission "udp". Add it to `permissions` in the manifest; the operator must allow it in RUNTIME_WORKER_PERMISSIONS.';
/** Methods of node:dgram handles that bind, connect, send or receive. */
const udpMethods = ["open", "bind", "bind6", "connect", "connect6", "send", "send6", "recvStart"];

export interface LockdownOptions {
  /** The socket that connects the isolate with the daemon. */
  readonly channel: Socket;
  /** Records the servers that call `listen`. No port is opened. */
  readonly servers: ListeningServers;
  readonly allowsUdp: boolean;
  readonly allowsPrograms: boolean;
  /** True if the worker is allowed to load native addons. */
  readonly allowsAddons: boolean;
  /** True if the worker is allowed to use node:sqlite. */
  readonly allowsDatabases: boolean;
  readonly network: WorkerNetwork;
  /** Writes an error to the worker's log. */
  readonly report: (text: string) => void;
}

/** Removes functions that can affect the daemon or other isolates. Call it before any code of the worker runs. */
export function lockDown({
  channel,
  allowsUdp,
  allowsPrograms,
  allowsAddons,
  allowsDatabases,
  network,
  servers,
  report,
}: LockdownOptions): void {
  // Removes `process.dlopen`, through which Node.js loads native addons.
  for (const name of [...takenFromProcess, ...(allowsAddons ? [] : ["dlopen"])]) {
    Object.defineProperty(process, name, { value: undefined, writable: false, configurable: false, enumerable: false });
  }
  restrictProcessReport();
  os.setPriority = () => unavailable("os.setPriority");
  // Disables `v8.setFlagsFromString`, because some flags make V8 write files without a check of the permission model. V8 freezes its flags,
  // so a later change would also abort the process.
  v8.setFlagsFromString = () => unavailable("v8.setFlagsFromString");
  // Disables both functions, because they write files. If the permission model denied the file, `createTracing` would block forever.
  v8.setHeapSnapshotNearHeapLimit = () => unavailable("v8.setHeapSnapshotNearHeapLimit");
  traceEvents.createTracing = () => unavailable("trace_events.createTracing");
  // Returns no network interfaces. The kernel denies the system call, so the original function would throw an error.
  os.networkInterfaces = () => ({});
  if (!allowsDatabases) denyDatabases();
  guardNetwork({ network, pipe: channel, allowsUdp, allowsPrograms, report });
  servers.install(() => throwDenied(listenMessage, "listen"));
  denyListening({ pipe: channel, allowsUdp });
  if (!allowsPrograms) denyForks();
  syncBuiltinESMExports();
}

/** Disables node:sqlite, because it opens files without a check of the permission model, for example by the SQL statement ATTACH. */
function denyDatabases(): void {
  const sqlite = process.getBuiltinModule("node:sqlite") as Record<string, unknown>;
  for (const name of ["DatabaseSync", "backup"]) {
    sqlite[name] = function denied(): never {
      return unavailable(`node:sqlite (${name}), where the kernel does not restrict files,`);
    };
  }
}

function unavailable(name: string): never {
  throw new Error(`${name} is not available to workers.`);
}

/**
 * Denies listening by handles of node:net and by UDP sockets. Browsers send the cookies of a host to all its ports, so a worker with a port
 * would receive the operator's session.
 */
function denyListening({ pipe, allowsUdp }: { pipe: net.Socket; allowsUdp: boolean }): void {
  // Creates a socket only for the prototype of its TCP handle. `connect` creates the handle immediately, and the socket is destroyed before
  // it connects.
  const socket = new net.Socket().connect({ host: "127.0.0.1", port: 1 });
  for (const prototype of [prototypeOfHandle(pipe), prototypeOfHandle(socket)]) {
    replaceMethods(prototype, ["listen"], () => throwDenied(listenMessage, "listen"));
    replaceMethods(prototype, ["bind", "bind6"], refuse);
  }
  socket.destroy();
  if (allowsUdp) return;
  dgram.Socket.prototype.bind = () => throwDenied(udpMessage, "bind");
  const udpSocket = dgram.createSocket("udp4");
  replaceMethods(prototypeOfUdpHandle(udpSocket), udpMethods, refuse);
  udpSocket.close();
}

/** Makes `fork` throw an error that names the manifest field `instances` as the alternative. */
function denyForks(): void {
  cluster.fork = throwForkDenied;
  childProcess.fork = throwForkDenied;
}

function throwForkDenied(): never {
  throw Object.assign(new Error(forkMessage), { code: "ERR_ACCESS_DENIED", permission: "ChildProcess" });
}

function throwDenied(message: string, syscall: string): never {
  throw Object.assign(new Error(message), { code: "EACCES", syscall });
}

/**
 * Returns the error code EACCES. Handle methods return error codes, for which node:net emits "error". Example: `connect` with
 * `localAddress` calls `bind`.
 */
function refuse(): number {
  return -constants.errno.EACCES;
}
