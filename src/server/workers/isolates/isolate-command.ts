import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { compiledFile } from "../../package-root.js";
import { findSystemTool } from "../../platform/system-tool.js";
import { readablePaths, temporaryFolderOf } from "./sandbox-folder.js";
import { isolateFlag } from "../engine/permission-policy.js";
import type { IsolateSettings } from "../isolate/isolate-settings.js";
import type { IsolateNeeds } from "./isolate-pool.js";
import type { UserSharing } from "./sandbox-allocator.js";
import { sandboxCommand } from "../sandbox/sandbox-command.js";
import { layerNames, type KernelLayers } from "../sandbox/sandbox-policy.js";
import { isolatePolicy } from "../sandbox/isolate-policy.js";

/** Memory in bytes that an isolate's process can use above the worker's limit: heap outside the old generation, thread stacks and code. */
const overheadBytes = 192 * 1024 * 1024;
const mostOpenFiles = 4096;
/** Maximum size in bytes of each file that a worker with an `fs-write` permission can write. */
const largestGrantedFileBytes = 1024 * 1024 * 1024;
/** Default number of threads that V8 uses on large machines for garbage collection and compilation. */
const mostHelperThreads = 4;
/**
 * Number of processors without a helper thread of V8. A growing heap keeps the helper threads busy, so the worker's main thread and other
 * processes need processors of their own.
 */
const processorsWithoutHelpers = 2;
/**
 * Maximum number of threads of one isolate without the permissions `child-process` and `worker-threads`. Node.js itself uses at most 11.
 */
const mostThreads = 64;
/**
 * Maximum number of processes and threads of an isolate with the permission `child-process` or `worker-threads`. Without this limit, one
 * isolate could use up the processes of the machine.
 */
const mostProcesses = 512;
/**
 * Maximum number of processes and threads of all isolates of one worker. Applies to a worker that has its own user and the permission
 * `child-process` or `worker-threads`.
 */
const mostProgramsOfWorker = 2048;
/**
 * Maximum number of threads of all isolates of one worker. Applies to a worker that has its own user, but neither `child-process` nor
 * `worker-threads`. 500 isolates use 5,500 threads.
 */
const mostThreadsOfWorker = 8192;
/** Number of worker threads (`node:worker_threads`) that fit into the memory limit. Each thread has its own code range in V8. */
const mostCodeRanges = 8;

/** The program of an isolate. The isolate's user must be able to read the file and its folder. */
export const isolateProgram = compiledFile("server/workers/isolate/main.js");

/** Bit of the capability `CAP_SETPCAP`, from `linux/capability.h`. */
const changeCapabilities = 1n << 8n;

interface IsolateOptions extends Pick<IsolateNeeds, "memoryBytes" | "permissions" | "network" | "folder" | "hidden" | "data"> {
  readonly slot: string;
  readonly user: number | undefined;
  readonly sharing: UserSharing;
}

export interface IsolateCommandOptions {
  readonly allowsNetwork: boolean;
  /** True if isolates start only on a kernel that supports all isolation layers. */
  readonly isStrict: boolean;
  /** Folders of the daemon that no worker process is allowed to read. */
  readonly closedFolders: readonly string[];
  /** Maximum size of an isolate's temporary folder. */
  readonly temporaryFolderMaxBytes: number;
  /** The isolation layers of the kernel and their state. */
  readonly layers: Promise<KernelLayers>;
}

/**
 * Builds the command line of isolates. If setpriv or prlimit is missing, isolates start without the restrictions of the missing program.
 */
export class IsolateCommand {
  readonly #setpriv = findSystemTool("setpriv");
  readonly #prlimit = findSystemTool("prlimit");
  readonly #openFiles = Math.min(mostOpenFiles, ownOpenFiles());
  readonly #codeRangeBytes = countedCodeRangeBytes();
  readonly #flags: readonly string[];
  readonly #isStrict: boolean;
  readonly #layers: Promise<KernelLayers>;
  readonly #closed: readonly string[];
  readonly #temporaryFolderMaxBytes: number;

  /** The folder with all code of the daemon, including the isolate program. */
  get programFolder(): string {
    return compiledFile("server");
  }

  constructor(options: IsolateCommandOptions) {
    this.#isStrict = options.isStrict;
    this.#layers = options.layers;
    this.#closed = options.closedFolders;
    this.#temporaryFolderMaxBytes = options.temporaryFolderMaxBytes;
    this.#flags = [
      "--permission",
      // Adds `--allow-net` only in Node.js 25 and later. The permission model of earlier versions does not restrict the network.
      ...(options.allowsNetwork && process.allowedNodeEnvironmentFlags.has("--allow-net") ? ["--allow-net"] : []),
      // Freezes V8 flags after the start, because some flags make V8 write files outside the permission model.
      "--freeze-flags-after-init",
      "--preserve-symlinks",
      "--preserve-symlinks-main",
      ...helperFlags(),
      "--disable-warning=ExperimentalWarning",
      "--disable-warning=SecurityWarning",
      // Disables this warning, because a sandbox folder has its own package.json, without the `type` of the worker's package.json.
      "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
    ];
  }

  /**
   * Returns the command line of an isolate that reads the folder `slot` and has `permissions`. If the user id `user` is undefined, the
   * isolate runs as the daemon's user.
   */
  async build(options: IsolateOptions): Promise<{ file: string; args: string[] }> {
    const node = [
      process.execPath,
      ...this.#flags,
      ...options.permissions.flatMap((permission) => isolateFlag(permission) ?? []),
      `--max-old-space-size=${Math.max(16, Math.floor(options.memoryBytes / 1024 / 1024))}`,
      ...readablePaths(options.slot).map((readable) => `--allow-fs-read=${readable}`),
      // Allows reading the worker's folder if `app` is a symbolic link, because Node.js then resolves relative paths in that folder.
      ...(options.folder !== undefined && options.hidden === undefined ? [`--allow-fs-read=${path.join(options.folder, "*")}`] : []),
      `--allow-fs-read=${path.dirname(isolateProgram)}`,
      ...writablePaths(options).map((writable) => `--allow-fs-write=${writable}`),
      ...(options.data ? [`--allow-fs-read=${path.join(options.data.folder, "*")}`] : []),
      isolateProgram,
      options.slot,
      JSON.stringify(settingsOf(options, await this.#layers)),
    ];
    const [file, ...args] = [...this.#privileges(options.user), ...this.#limits(options), ...(await this.#sandbox(options)), ...node];
    return { file: file as string, args };
  }

  async #sandbox(needs: IsolateOptions): Promise<string[]> {
    const layers = await this.#layers;
    // Requires each layer that the kernel supports. Otherwise a worker could make the setup of a layer fail and run without it.
    const required = layerNames.filter((name) => this.#isStrict || layers[name].isActive);
    if (required.length === 0) return [];
    const hasOwnUser = needs.user !== undefined && needs.sharing !== "workers";
    const policy = isolatePolicy({
      needs,
      slot: needs.slot,
      hasOwnUser,
      program: path.dirname(isolateProgram),
      required,
      closed: this.#closed,
    });
    return sandboxCommand(policy);
  }

  #privileges(user: number | undefined): string[] {
    if (this.#setpriv === undefined) return [];
    // Makes the kernel kill the isolate when the daemon exits. The code of the worker cannot prevent this.
    return [this.#setpriv, "--pdeathsig", "KILL", "--no-new-privs", ...(user === undefined ? rootFlags() : userFlags(user)), "--"];
  }

  #limits(options: IsolateOptions): string[] {
    if (this.#prlimit === undefined) return [];
    const { permissions, data } = options;
    const writesFiles = permissions.some((permission) => permission.startsWith("fs-write:"));
    const largestFileBytes = Math.max(writesFiles ? largestGrantedFileBytes : 0, data?.largestFileBytes ?? this.#temporaryFolderMaxBytes);
    const hasProcesses = permissions.includes("child-process") || permissions.includes("worker-threads");
    const codeBytes = this.#codeRangeBytes * (permissions.includes("worker-threads") ? 1 + mostCodeRanges : 1);
    return [
      this.#prlimit,
      `--data=${options.memoryBytes * 2 + overheadBytes + codeBytes}`,
      "--core=0",
      `--nofile=${this.#openFiles}`,
      `--fsize=${largestFileBytes}`,
      ...this.#processLimit(options, hasProcesses),
      "--",
    ];
  }

  /**
   * Returns the `prlimit` option for the number of processes. Empty if several workers share the user, because the kernel counts all
   * processes of a user together.
   */
  #processLimit({ user, sharing }: IsolateOptions, hasProcesses: boolean): string[] {
    if (user === undefined || sharing === "workers") return [];
    if (sharing === "worker") return [`--nproc=${hasProcesses ? mostProgramsOfWorker : mostThreadsOfWorker}`];
    return [`--nproc=${hasProcesses ? mostProcesses : mostThreads}`];
  }
}

/**
 * Returns the paths for `--allow-fs-write` that need no permission: the temporary folder and the data folder. In a full data folder, the
 * kernel allows only deletion.
 */
function writablePaths({ slot, data }: IsolateOptions): string[] {
  return [temporaryFolderOf(slot), ...(data ? [data.folder] : [])].map((folder) => path.join(folder, "*"));
}

function settingsOf({ permissions, network }: IsolateOptions, { landlock }: KernelLayers): IsolateSettings {
  return {
    network,
    allowsUdp: permissions.includes("udp"),
    allowsPrograms: permissions.includes("child-process"),
    allowsAddons: permissions.includes("addons"),
    allowsDatabases: landlock.isActive || permissions.some((permission) => permission.startsWith("fs-")),
  };
}

/** Returns the options of setpriv for an isolate with its own user. The isolate then has no groups and no capabilities. */
export function userFlags(user: number): string[] {
  return ["--reuid", String(user), "--regid", String(user), "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];
}

/**
 * Returns the options of setpriv for an isolate that runs as root. The isolate keeps only capabilities for files of other users, which
 * Landlock limits. Empty if this process is not root or cannot drop capabilities.
 */
function rootFlags(): string[] {
  if (process.getuid?.() !== 0 || !mayDropCapabilities()) return [];
  return ["--inh-caps=-all", "--bounding-set=-all,+dac_override,+dac_read_search"];
}

function mayDropCapabilities(): boolean {
  try {
    const effective = /^CapEff:\s+(\w+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    return effective !== undefined && (BigInt(`0x${effective}`) & changeCapabilities) !== 0n;
  } catch {
    return false;
  }
}

/**
 * Returns the V8 flags for helper threads. On a machine with few processors, the main thread collects garbage alone. Compilation always has
 * one helper thread.
 */
function helperFlags(): string[] {
  const threads = Math.min(mostHelperThreads, availableParallelism() - processorsWithoutHelpers);
  return threads > 0 ? [`--v8-pool-size=${threads}`] : ["--v8-pool-size=1", "--single-threaded-gc"];
}

/** Returns the hard limit of open files of this process. Returns Infinity if this limit cannot be read. */
function ownOpenFiles(): number {
  try {
    const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return hard === undefined ? Infinity : Number(hard);
  } catch {
    return Infinity;
  }
}

/**
 * Returns the bytes of V8's code range that the kernel counts as data, up to 512 MB. Returns 0 if the kernel counts none or /proc is not
 * readable. Measures the daemon, because its code range has the same size.
 */
function countedCodeRangeBytes(): number {
  try {
    const areas = readFileSync("/proc/self/maps", "latin1").matchAll(/^([\da-f]+)-([\da-f]+) rwxp/gm);
    return [...areas].reduce((sum, [, start, end]) => sum + Number.parseInt(end as string, 16) - Number.parseInt(start as string, 16), 0);
  } catch {
    return 0;
  }
}
