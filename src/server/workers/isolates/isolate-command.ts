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

/** Memory limit of an isolate's process beyond the worker's limit, for heap outside the old generation, thread stacks and code. */
const overheadBytes = 192 * 1024 * 1024;
const mostOpenFiles = 4096;
/** Maximum size of a file in a folder that a permission of the worker makes writable. */
const largestGrantedFileBytes = 1024 * 1024 * 1024;
/** Number of threads that V8 uses for garbage collection and compilation on large machines by default. */
const mostHelperThreads = 4;
/**
 * Number of processors without V8 helper threads, kept free for the worker's main thread and other processes. A growing heap keeps the
 * helper threads busy with garbage collection.
 */
const processorsWithoutHelpers = 2;
/** Thread limit for one isolate. Node.js itself uses at most 11 threads. */
const mostThreads = 64;
/**
 * Maximum number of processes and threads for an isolate that is allowed to start them, so that no isolate can exhaust the processes of the
 * machine.
 */
const mostProcesses = 512;
/** Maximum number of processes and threads for all isolates of a worker that runs as its own user and is allowed to start programs. */
const mostProgramsOfWorker = 2048;
/**
 * Thread limit for all isolates of a worker that runs as its own user and is not allowed to start programs. 500 isolates use 5,500 threads.
 */
const mostThreadsOfWorker = 8192;
/** Number of worker threads (`node:worker_threads`) for which the memory limit has space. Each thread has its own V8 code range. */
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
  /** True if an isolate is allowed to start only when the kernel supports all isolation layers. */
  readonly isStrict: boolean;
  /** Folders of the daemon that no worker process is allowed to read. */
  readonly closedFolders: readonly string[];
  /** Maximum size of an isolate's temporary folder. */
  readonly temporaryFolderMaxBytes: number;
  /** The isolation layers of the kernel that restrict isolates, and whether each layer is active. */
  readonly layers: Promise<KernelLayers>;
}

/**
 * Builds the command line of isolates. If setpriv or prlimit is missing on this machine, isolates start without the restrictions of the
 * missing program.
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

  /** The folder that contains the isolate program and all other code of the daemon. */
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
      // `--allow-net` exists in Node.js 25 and later. The permission model of earlier versions does not restrict the network.
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
   * Returns the command line of an isolate that reads the folder `slot` and has `permissions`. `user`: the system user of the isolate, if
   * any.
   */
  async build(options: IsolateOptions): Promise<{ file: string; args: string[] }> {
    const node = [
      process.execPath,
      ...this.#flags,
      ...options.permissions.flatMap((permission) => isolateFlag(permission) ?? []),
      `--max-old-space-size=${Math.max(16, Math.floor(options.memoryBytes / 1024 / 1024))}`,
      ...readablePaths(options.slot).map((readable) => `--allow-fs-read=${readable}`),
      // Allows reading the target if `app` is a symbolic link, because Node.js then resolves relative paths at this target.
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
    // Requires each layer that the kernel supports. Otherwise a worker could make the setup of a layer fail and run without the layer.
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
    // Makes the kernel kill the isolate when the daemon exits, which the worker's code cannot prevent.
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
   * Returns the `prlimit` flag for processes. Empty for a user that several workers share, because the kernel counts all processes of a
   * user together.
   */
  #processLimit({ user, sharing }: IsolateOptions, hasProcesses: boolean): string[] {
    if (user === undefined || sharing === "workers") return [];
    if (sharing === "worker") return [`--nproc=${hasProcesses ? mostProgramsOfWorker : mostThreadsOfWorker}`];
    return [`--nproc=${hasProcesses ? mostProcesses : mostThreads}`];
  }
}

/**
 * Returns the `--allow-fs-write` paths that need no permission: temporary folder and data folder. If the data folder is full, the kernel
 * allows only deletion.
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

/** Returns the setpriv flags of an isolate with its own user, without groups and capabilities. */
export function userFlags(user: number): string[] {
  return ["--reuid", String(user), "--regid", String(user), "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];
}

/**
 * Returns the setpriv flags for an isolate that runs as root. Only capabilities for files of other users remain, which Landlock limits.
 * Empty if this process is not root or cannot drop capabilities.
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
 * Returns the V8 flags for helper threads. On a machine with few processors, the main thread collects garbage without helper threads.
 * Compilation always has one helper thread.
 */
function helperFlags(): string[] {
  const threads = Math.min(mostHelperThreads, availableParallelism() - processorsWithoutHelpers);
  return threads > 0 ? [`--v8-pool-size=${threads}`] : ["--v8-pool-size=1", "--single-threaded-gc"];
}

/** Returns the hard limit for open files of this process; Infinity if the limit cannot be read. */
function ownOpenFiles(): number {
  try {
    const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return hard === undefined ? Infinity : Number(hard);
  } catch {
    return Infinity;
  }
}

/**
 * Returns the bytes of V8's code range that the kernel counts as data, up to 512 MB. Returns 0 if none are counted or /proc is unreadable.
 * Measures the daemon's code range, which has the same size.
 */
function countedCodeRangeBytes(): number {
  try {
    const areas = readFileSync("/proc/self/maps", "latin1").matchAll(/^([\da-f]+)-([\da-f]+) rwxp/gm);
    return [...areas].reduce((sum, [, start, end]) => sum + Number.parseInt(end as string, 16) - Number.parseInt(start as string, 16), 0);
  } catch {
    return 0;
  }
}
