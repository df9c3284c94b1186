import { syncBuiltinESMExports } from "node:module";
import net, { type Socket } from "node:net";
import os, { constants } from "node:os";
import traceEvents from "node:trace_events";
import v8 from "node:v8";
import type { WorkerNetwork } from "../../config/worker-network.js";
import { guardNetwork, prototypeOfHandle, prototypeOfUdpHandle, replaceMethods } from "./guard-network.js";
import dgram from "node:dgram";

/** What the permission model leaves open although it reaches beyond this process. */
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
  "report",
  "chdir",
  "setuid",
  "seteuid",
  "setgid",
  "setegid",
  "setgroups",
  "initgroups",
];

const listenMessage =
  "A worker cannot listen on a port or socket. Export a fetch handler instead, such as `export default { fetch(request) { ... } }`: the daemon serves it at the worker's path.";
const udpMessage =
  'A worker cannot open a UDP socket, not even to send, without the permission "udp". Add it to `permissions` in the manifest; the operator allows it by RUNTIME_WORKER_PERMISSIONS.';
/** Methods of the handles below node:dgram that give a process an address, or use one. */
const udpMethods = ["open", "bind", "bind6", "connect", "connect6", "send", "send6", "recvStart"];

export interface LockdownOptions {
  /** The socket to the daemon. */
  readonly channel: Socket;
  readonly allowsUdp: boolean;
  readonly allowsPrograms: boolean;
  /** It may load native addons. */
  readonly allowsAddons: boolean;
  /** It may use node:sqlite. */
  readonly allowsDatabases: boolean;
  readonly network: WorkerNetwork;
  /** Tells the worker's log. */
  readonly report: (text: string) => void;
}

/** Takes away, before any app code runs, what could touch the daemon or other isolates. */
export function lockDown({ channel, allowsUdp, allowsPrograms, allowsAddons, allowsDatabases, network, report }: LockdownOptions): void {
  // Node loads an addon by `process.dlopen`.
  for (const name of [...takenFromProcess, ...(allowsAddons ? [] : ["dlopen"])]) {
    Object.defineProperty(process, name, { value: undefined, writable: false, configurable: false, enumerable: false });
  }
  os.setPriority = () => unavailable("os.setPriority");
  // Some flags of V8 have it open files for writing, past the permission model. The flags are frozen too, which would end the process.
  v8.setFlagsFromString = () => unavailable("v8.setFlagsFromString");
  // Both write files; the second one hangs where the permission model forbids it.
  v8.setHeapSnapshotNearHeapLimit = () => unavailable("v8.setHeapSnapshotNearHeapLimit");
  traceEvents.createTracing = () => unavailable("trace_events.createTracing");
  // The kernel denies it, which would be an error instead of an empty list.
  os.networkInterfaces = () => ({});
  if (!allowsDatabases) denyDatabases();
  guardNetwork({ network, pipe: channel, allowsUdp, allowsPrograms, report });
  denyListening({ pipe: channel, allowsUdp });
  syncBuiltinESMExports();
}

/** node:sqlite opens files past the permission model, by ATTACH too. */
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
 * Denies every way to listen, in node:net and in the handles below it: browsers send the cookies of a host to each of its ports, so an app
 * with a port of its own would receive the operator's session. `pipe` is any open socket that is no TCP socket; `allowsUdp` leaves
 * node:dgram as it is.
 */
function denyListening({ pipe, allowsUdp }: { pipe: net.Socket; allowsUdp: boolean }): void {
  net.Server.prototype.listen = () => throwDenied(listenMessage, "listen");
  // `connect` creates the handle at once; the socket is destroyed before the turn in which it would connect.
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

function throwDenied(message: string, syscall: string): never {
  throw Object.assign(new Error(message), { code: "EACCES", syscall });
}

/** Handles return errors as numbers; node:net makes an "error" event of it, for a connection with a `localAddress` too. */
function refuse(): number {
  return -constants.errno.EACCES;
}
