import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { openGranted, pathOnly } from "./sandbox-paths.js";
import { KernelError, type Kernel } from "./kernel.js";
import type { KernelLayers, SandboxPolicy } from "./sandbox-policy.js";
import type { SystemCalls } from "./system-calls.js";

/** Files in /proc that Node.js reads for `process.memoryUsage()` and `os.cpus()`. These files contain no data of other processes. */
const processorFiles = ["/proc/self/stat", "/proc/stat", "/proc/cpuinfo"];

/** Access rights of files, as bits from `linux/landlock.h`. */
const fileRights = {
  execute: 1n << 0n,
  writeFile: 1n << 1n,
  readFile: 1n << 2n,
  readFolder: 1n << 3n,
  removeFolder: 1n << 4n,
  removeFile: 1n << 5n,
  makeCharacterDevice: 1n << 6n,
  makeFolder: 1n << 7n,
  makeFile: 1n << 8n,
  makeSocket: 1n << 9n,
  makeFifo: 1n << 10n,
  makeBlockDevice: 1n << 11n,
  makeSymbolicLink: 1n << 12n,
  /** The right to link or move a file into another folder (LANDLOCK_ACCESS_FS_REFER). */
  moveBetweenFolders: 1n << 13n,
  truncate: 1n << 14n,
  controlDevice: 1n << 15n,
};
const bindTcp = 1n << 0n;
const connectTcp = 1n << 1n;
const abstractSockets = 1n << 0n;
const signals = 1n << 1n;
/** Access rights that later Landlock ABI versions added, oldest version first. Linux 5.13 has version 1. */
const additions = [
  { abi: 2, right: "moving files between folders", linux: "5.19" },
  { abi: 3, right: "truncating files", linux: "6.2" },
  { abi: 4, right: "binding TCP ports", linux: "6.7" },
  { abi: 5, right: "controlling devices", linux: "6.10" },
  { abi: 6, right: "abstract sockets and signals", linux: "6.12" },
] as const;
const byAccess: Readonly<Record<LandlockAccess, bigint>> = {
  read: fileRights.readFile | fileRights.readFolder,
  run: fileRights.readFile | fileRights.readFolder | fileRights.execute,
  remove: fileRights.removeFile | fileRights.removeFolder,
  write:
    fileRights.writeFile |
    fileRights.truncate |
    fileRights.removeFile |
    fileRights.removeFolder |
    fileRights.makeFile |
    fileRights.makeFolder |
    fileRights.makeSymbolicLink |
    fileRights.makeSocket |
    fileRights.makeFifo |
    fileRights.moveBetweenFolders,
};
/** Rights that a rule for a single file can contain. All other rights need a rule for a folder. */
const ofOneFile = fileRights.execute | fileRights.writeFile | fileRights.readFile | fileRights.truncate | fileRights.controlDevice;

/** Restricts this thread to the files that `policy` allows. The restriction also applies to the program that the thread executes next. */
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
    for (const path of policy.removable) allow(path, ["remove"], { isGranted: true });
    allow("/dev/null", ["read", "write"]);
    // Leaves these files open. A rule applies to an inode, and /proc creates another inode when a closed file is opened again.
    for (const path of processorFiles) allow(path, ["read"], { staysOpen: true });
    kernel.restrictSelf(call("landlock_restrict_self"), ruleset);
    closeSync(ruleset);
    return { isActive: true, abi, missingRights: missingRights(abi) };
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    return { isActive: false, reason: error.message, abi, missingRights: missingRights(abi) };
  }
}

/** Opens a path and returns the descriptor. Returns undefined if the path does not exist, or if this user cannot access it. */
function openPath(path: string, isGranted: boolean): number | undefined {
  try {
    return isGranted ? openGranted(path) : openSync(path, pathOnly | constants.O_RDONLY);
  } catch {
    return undefined;
  }
}

/** Returns a `struct landlock_ruleset_attr` with the size for the ABI version of the kernel. */
function rulesetAttributes(abi: number, { files, network, scopes }: HandledRights): Buffer {
  const attributes = Buffer.alloc(abi >= 6 ? 24 : abi >= 4 ? 16 : 8);
  attributes.writeBigUInt64LE(files, 0);
  if (abi >= 4) attributes.writeBigUInt64LE(network, 8);
  if (abi >= 6) attributes.writeBigUInt64LE(scopes, 16);
  return attributes;
}

/** Returns a `struct landlock_path_beneath_attr`. The struct has no padding. */
function pathAttributes(rights: bigint, descriptor: number): Buffer {
  const attributes = Buffer.alloc(12);
  attributes.writeBigUInt64LE(rights, 0);
  attributes.writeInt32LE(descriptor, 8);
  return attributes;
}

/** The kind of access to a file or folder. */
type LandlockAccess = "read" | "run" | "remove" | "write";

/**
 * The rights that a ruleset handles: all rights of the kernel's ABI version. The kernel denies each of these rights that no rule allows.
 */
interface HandledRights {
  readonly files: bigint;
  readonly network: bigint;
  readonly scopes: bigint;
}

/** Returns the rights that the ruleset handles. If `deniesConnecting` is true, it also handles TCP connections. */
export function handledRights(abi: number, { deniesConnecting }: { deniesConnecting: boolean }): HandledRights {
  const oldest = fileRights.makeSymbolicLink * 2n - 1n;
  return {
    files:
      oldest |
      (abi >= 2 ? fileRights.moveBetweenFolders : 0n) |
      (abi >= 3 ? fileRights.truncate : 0n) |
      (abi >= 5 ? fileRights.controlDevice : 0n),
    network: abi >= 4 ? bindTcp | (deniesConnecting ? connectTcp : 0n) : 0n,
    scopes: abi >= 6 ? abstractSockets | signals : 0n,
  };
}

/** Returns the rights of a rule. Omits rights that the ruleset does not handle. */
export function ruleRights(access: readonly LandlockAccess[], handled: bigint, { isFolder }: { isFolder: boolean }): bigint {
  const rights = access.reduce((all, one) => all | byAccess[one], 0n);
  return rights & handled & (isFolder ? ~0n : ofOneFile);
}

/** Returns descriptions of the rights that this kernel cannot deny. Each names the Linux version that can deny the right. */
export function missingRights(abi: number): string[] {
  return additions.filter((addition) => abi < addition.abi).map(({ right, linux }) => `${right} (Linux ${linux})`);
}
