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

/** Memory that a process needs beyond the worker's limit: heap outside the old generation, thread stacks, code. */
const overheadBytes = 192 * 1024 * 1024;
const mostOpenFiles = 4096;
/** Maximum size of a file in a folder that a permission grants. */
const largestGrantedFileBytes = 1024 * 1024 * 1024;
/** V8's default number of threads for garbage collection and compilation on large machines. */
const mostHelperThreads = 4;
/**
 * Processors reserved for the worker's main thread and for other processes: a worker with a growing heap also keeps its GC threads busy.
 */
const processorsWithoutHelpers = 2;
/** Thread limit of one isolate; Node itself uses at most 11. */
const mostThreads = 64;
/** Process and thread limit of an isolate that is allowed to start processes or threads. */
const mostProcesses = 512;
/** Process and thread limit of all isolates of a worker with its own user and the permission to start programs. */
const mostProgramsOfWorker = 2048;
/** Thread limit of all isolates of such a worker without that permission: 500 isolates use 5,500. */
const mostThreadsOfWorker = 8192;
/** Maximum worker threads that the memory limit allows for; each has its own V8 code range. */
const mostCodeRanges = 8;

/** The isolate program. The user that runs it must be able to read the file and its folder. */
export const isolateProgram = compiledFile("server/workers/isolate/main.js");

/** `CAP_SETPCAP` of `linux/capability.h`. */
const changeCapabilities = 1n << 8n;

interface IsolateOptions extends Pick<IsolateNeeds, "memoryBytes" | "permissions" | "network" | "folder" | "data"> {
  readonly slot: string;
  readonly user: number | undefined;
  readonly sharing: UserSharing;
}

export interface IsolateCommandOptions {
  readonly allowsNetwork: boolean;
  /** True when an isolate must not start unless the kernel restricts it. */
  readonly isStrict: boolean;
  /** Folders of the daemon that no worker process is allowed to read. */
  readonly closedFolders: readonly string[];
  /** Maximum size of an isolate's temporary folder. */
  readonly temporaryFolderMaxBytes: number;
  /** Kernel features that restrict isolates. */
  readonly layers: Promise<KernelLayers>;
}

/** Builds the command line of isolates. Tools that this machine lacks are omitted, and only their restrictions are lost. */
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

  /** Folder of the isolate program and of all other code of the daemon. */
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
      // Node 25 and later. In earlier versions the permission model does not restrict the network.
      ...(options.allowsNetwork && process.allowedNodeEnvironmentFlags.has("--allow-net") ? ["--allow-net"] : []),
      // Freezes V8 flags after the start: some of them write files outside the permission model.
      "--freeze-flags-after-init",
      "--preserve-symlinks",
      "--preserve-symlinks-main",
      ...helperFlags(),
      "--disable-warning=ExperimentalWarning",
      "--disable-warning=SecurityWarning",
      // The package.json of a slot does not describe the worker.
      "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
    ];
  }

  /** Returns the command line of an isolate with read access to `slot` and the given permissions. The isolate runs as `user`, if given. */
  async build(options: IsolateOptions): Promise<{ file: string; args: string[] }> {
    const node = [
      process.execPath,
      ...this.#flags,
      ...options.permissions.flatMap((permission) => isolateFlag(permission) ?? []),
      `--max-old-space-size=${Math.max(16, Math.floor(options.memoryBytes / 1024 / 1024))}`,
      ...readablePaths(options.slot).map((readable) => `--allow-fs-read=${readable}`),
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
    // Every available layer is required: otherwise a worker could make the setup of a layer fail and run without that layer.
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
    // Kills the isolate when the daemon is killed, regardless of the worker's code.
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

  /** Returns no limit for a user that several workers share: the kernel counts all processes of a user together. */
  #processLimit({ user, sharing }: IsolateOptions, hasProcesses: boolean): string[] {
    if (user === undefined || sharing === "workers") return [];
    if (sharing === "worker") return [`--nproc=${hasProcesses ? mostProgramsOfWorker : mostThreadsOfWorker}`];
    return [`--nproc=${hasProcesses ? mostProcesses : mostThreads}`];
  }
}

/** Returns the `--allow-fs-write` paths that no permission names. The kernel limits a full data folder to deletion. */
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

/** setpriv flags for an isolate's user, without groups and capabilities. */
export function userFlags(user: number): string[] {
  return ["--reuid", String(user), "--regid", String(user), "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];
}

/**
 * setpriv flags for an isolate that runs as root: keeps only the capabilities to access files of other users, which Landlock limits. Empty
 * when the process cannot drop capabilities.
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

/** Without spare processors, the main thread collects garbage itself; compilation always keeps one thread. */
function helperFlags(): string[] {
  const threads = Math.min(mostHelperThreads, availableParallelism() - processorsWithoutHelpers);
  return threads > 0 ? [`--v8-pool-size=${threads}`] : ["--v8-pool-size=1", "--single-threaded-gc"];
}

/** Returns the hard limit of open files. */
function ownOpenFiles(): number {
  try {
    const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return hard === undefined ? Infinity : Number(hard);
  } catch {
    return Infinity;
  }
}

/**
 * Returns the bytes of V8's code range that the kernel counts as data: up to 512 MB, mapped writable. 0 when it is not counted or /proc is
 * unreadable. Measures the daemon's own code range, which has the same size.
 */
function countedCodeRangeBytes(): number {
  try {
    const areas = readFileSync("/proc/self/maps", "latin1").matchAll(/^([\da-f]+)-([\da-f]+) rwxp/gm);
    return [...areas].reduce((sum, [, start, end]) => sum + Number.parseInt(end as string, 16) - Number.parseInt(start as string, 16), 0);
  } catch {
    return 0;
  }
}
