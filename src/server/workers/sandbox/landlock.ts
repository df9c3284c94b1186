import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { openGranted, pathOnly } from "./granted-paths.js";
import { KernelError, type Kernel } from "./kernel.js";
import { handledRights, missingRights, ruleRights, type HandledRights, type LandlockAccess } from "./landlock-rights.js";
import type { KernelLayers, SandboxPolicy } from "./sandbox-policy.js";
import type { SystemCalls } from "./system-calls.js";

/** Files of procfs that Node reads for `process.memoryUsage()` and `os.cpus()`; they tell of no other process. */
const processorFiles = ["/proc/self/stat", "/proc/stat", "/proc/cpuinfo"];

/** Restricts this thread, and with it the program that it becomes, to the files of `policy`. */
export function applyLandlock(kernel: Kernel, calls: SystemCalls, policy: SandboxPolicy): KernelLayers["landlock"] {
  const call = (name: string): number => calls[name] as number;
  let abi = 0;
  try {
    abi = kernel.landlockVersion(call("landlock_create_ruleset"));
    const handled = handledRights(abi, { deniesConnecting: policy.network === "none" });
    const ruleset = kernel.createRuleset(call("landlock_create_ruleset"), rulesetAttributes(abi, handled));
    const allow = (path: string, access: readonly LandlockAccess[], { staysOpen = false, isGranted = false } = {}): void => {
      const descriptor = openPath(path, isGranted);
      if (descriptor === undefined) return;
      const rights = ruleRights(access, handled.files, { isFolder: fstatSync(descriptor).isDirectory() });
      kernel.allowPath(call("landlock_add_rule"), ruleset, pathAttributes(rights, descriptor));
      if (staysOpen) kernel.keepOpen(descriptor);
      else closeSync(descriptor);
    };
    for (const path of policy.readable) allow(path, ["read"]);
    for (const path of policy.runnable) allow(path, ["run"]);
    for (const path of policy.grantedReadable) allow(path, ["read"], { isGranted: true });
    for (const path of policy.writable) allow(path, ["write"], { isGranted: true });
    allow("/dev/null", ["read", "write"]);
    // A rule follows the inode. procfs creates another inode for the same file unless a process keeps it open.
    for (const path of processorFiles) allow(path, ["read"], { staysOpen: true });
    kernel.restrictSelf(call("landlock_restrict_self"), ruleset);
    closeSync(ruleset);
    return { isActive: true, abi, missingRights: missingRights(abi) };
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    return { isActive: false, reason: error.message, abi, missingRights: missingRights(abi) };
  }
}

/** Undefined for what is not there, or not open to this user anyway. */
function openPath(path: string, isGranted: boolean): number | undefined {
  try {
    return isGranted ? openGranted(path) : openSync(path, pathOnly | constants.O_RDONLY);
  } catch {
    return undefined;
  }
}

/** `struct landlock_ruleset_attr`, as long as the kernel's version knows it. */
function rulesetAttributes(abi: number, { files, network, scopes }: HandledRights): Buffer {
  const attributes = Buffer.alloc(abi >= 6 ? 24 : abi >= 4 ? 16 : 8);
  attributes.writeBigUInt64LE(files, 0);
  if (abi >= 4) attributes.writeBigUInt64LE(network, 8);
  if (abi >= 6) attributes.writeBigUInt64LE(scopes, 16);
  return attributes;
}

/** `struct landlock_path_beneath_attr`, which is packed. */
function pathAttributes(rights: bigint, descriptor: number): Buffer {
  const attributes = Buffer.alloc(12);
  attributes.writeBigUInt64LE(rights, 0);
  attributes.writeInt32LE(descriptor, 8);
  return attributes;
}
