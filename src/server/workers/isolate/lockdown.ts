import { syncBuiltinESMExports } from "node:module";
import os from "node:os";

/** What the permission model leaves open although it reaches beyond this process. */
const takenFromProcess = [
  "kill",
  "_kill",
  "binding",
  "_linkedBinding",
  "dlopen",
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

/** Takes away, before any app code runs, what could touch the daemon or other isolates. */
export function lockDown(): void {
  for (const name of takenFromProcess) {
    Object.defineProperty(process, name, { value: undefined, writable: false, configurable: false, enumerable: false });
  }
  os.setPriority = () => {
    throw new Error("os.setPriority is not available to workers.");
  };
  syncBuiltinESMExports();
}
