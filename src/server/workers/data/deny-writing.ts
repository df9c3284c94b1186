import { statSync } from "node:fs";
import { spawnProcess } from "../../platform/spawner/spawner.js";
import { findSystemTool } from "../../platform/system-tool.js";
import { userFlags } from "../isolates/isolate-command.js";

const prlimit = findSystemTool("prlimit");
const setpriv = findSystemTool("setpriv");

/** Sets the maximum file size of a running process to 0, so that its writes fail with EFBIG. Returns whether this succeeded. */
export async function denyWriting(pid: number): Promise<boolean> {
  if (prlimit === undefined) return false;
  try {
    const { uid } = statSync(`/proc/${pid}`);
    // Runs prlimit as the user of the process, because prlimit then needs no capability. Root can lack CAP_SYS_RESOURCE, for example in a
    // container.
    const args = [`--pid=${pid}`, "--fsize=0"];
    const command =
      uid === process.getuid?.() || setpriv === undefined
        ? { file: prlimit, args }
        : { file: setpriv, args: [...userFlags(uid), "--", prlimit, ...args] };
    const change = await spawnProcess({ ...command, workingDirectory: "/", descriptors: [] });
    return (await change.ended).status === 0;
  } catch {
    // Returns false if the process `pid` has exited or prlimit cannot be started.
    return false;
  }
}
