import { syncBuiltinESMExports } from "node:module";
import type { Socket } from "node:net";
import os from "node:os";
import traceEvents from "node:trace_events";
import v8 from "node:v8";
import type { WorkerNetwork } from "../../config/worker-network.js";
import { denyListening } from "./deny-listening.js";
import { guardNetwork } from "./guard-network.js";

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
