import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import path from "node:path";
import { compiledFile } from "../../package-root.js";
import { findSystemTool } from "../../platform/system-tool.js";
import { readablePaths } from "./sandbox-folder.js";
import { isolateFlag } from "../engine/permission-policy.js";
import type { IsolateSettings } from "../isolate/isolate-settings.js";
import type { IsolateNeeds } from "./isolate-pool.js";
import type { UserSharing } from "./sandbox-allocator.js";
import { sandboxCommand } from "../sandbox/sandbox-command.js";
import { layerNames, type KernelLayers } from "../sandbox/sandbox-policy.js";
import { isolatePolicy } from "../sandbox/isolate-policy.js";

/** Heap outside of the old generation, thread stacks, code: what a process needs beyond the app's memory. */
const overheadBytes = 192 * 1024 * 1024;
const mostOpenFiles = 4096;
const largestFileBytes = 1024 * 1024 * 1024;
/** What V8 has of its own to collect garbage and to compile, on however large a machine. */
const mostHelperThreads = 4;
/** For the one thread that runs the app, and for everybody else: an app whose memory grows keeps its helpers busy, too. */
const processorsWithoutHelpers = 2;
/** Threads of one isolate: Node's own are eleven at most. */
const mostThreads = 64;
/** With processes or threads of its own. */
const mostProcesses = 512;
/** Processes and threads of all isolates of a worker that has a user of its own and may start programs. */
const mostProgramsOfWorker = 2048;
/** Threads of all isolates of such a worker without programs: 500 isolates have 5,500. */
const mostThreadsOfWorker = 8192;
/** Worker threads of an app that may have them, each with a code range of its own. */
const mostCodeRanges = 8;

/** The program of an isolate; it and its folder must be readable to the user that runs it. */
export const isolateProgram = compiledFile("server/workers/isolate/main.js");

/** `CAP_SETPCAP` of `linux/capability.h`. */
const changeCapabilities = 1n << 8n;

interface IsolateOptions extends Pick<IsolateNeeds, "memoryBytes" | "permissions" | "network" | "folder"> {
  readonly slot: string;
  readonly user: number | undefined;
  readonly sharing: UserSharing;
}

export interface IsolateCommandOptions {
  readonly allowsNetwork: boolean;
  /** An isolate that the kernel does not restrict must not start. */
  readonly isStrict: boolean;
  /** Folders of the daemon that no program of a worker may read. */
  readonly closedFolders: readonly string[];
  /** What the kernel offers. */
  readonly layers: Promise<KernelLayers>;
}

/** How isolates are started on this machine. Tools that it lacks are left out; what they would add is lost, nothing else. */
export class IsolateCommand {
  readonly #setpriv = findSystemTool("setpriv");
  readonly #prlimit = findSystemTool("prlimit");
  readonly #openFiles = Math.min(mostOpenFiles, ownOpenFiles());
  readonly #codeRangeBytes = countedCodeRangeBytes();
  readonly #flags: readonly string[];
  readonly #isStrict: boolean;
  readonly #layers: Promise<KernelLayers>;
  readonly #closed: readonly string[];

  /** Where the isolates' own code lies, and with it all of the daemon's. */
  get programFolder(): string {
    return compiledFile("server");
  }

  constructor(options: IsolateCommandOptions) {
    this.#isStrict = options.isStrict;
    this.#layers = options.layers;
    this.#closed = options.closedFolders;
    this.#flags = [
      "--permission",
      // From Node 25 on; before, the permission model leaves the network open.
      ...(options.allowsNetwork && process.allowedNodeEnvironmentFlags.has("--allow-net") ? ["--allow-net"] : []),
      // After the start no flag of V8 can be changed: some of them write files past the permission model.
      "--freeze-flags-after-init",
      "--preserve-symlinks",
      "--preserve-symlinks-main",
      ...helperFlags(),
      "--disable-warning=ExperimentalWarning",
      "--disable-warning=SecurityWarning",
      // The package.json of a slot says nothing of the app.
      "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON",
    ];
  }

  /** Command line of an isolate that may read `slot` and do what `permissions` say; it runs as `user`, when given. */
  async build(options: IsolateOptions): Promise<{ file: string; args: string[] }> {
    const node = [
      process.execPath,
      ...this.#flags,
      ...options.permissions.flatMap((permission) => isolateFlag(permission) ?? []),
      `--max-old-space-size=${Math.max(16, Math.floor(options.memoryBytes / 1024 / 1024))}`,
      ...readablePaths(options.slot).map((readable) => `--allow-fs-read=${readable}`),
      `--allow-fs-read=${path.dirname(isolateProgram)}`,
      isolateProgram,
      options.slot,
      JSON.stringify(settingsOf(options, await this.#layers)),
    ];
    const [file, ...args] = [...this.#privileges(options.user), ...this.#limits(options), ...(await this.#sandbox(options)), ...node];
    return { file: file as string, args };
  }

  async #sandbox(needs: IsolateOptions): Promise<string[]> {
    const layers = await this.#layers;
    // A layer that the kernel offers is required of each isolate: what an app asks for must not make it fail, and be left out.
    const required = layerNames.filter((name) => this.#isStrict || layers[name].isActive);
    if (required.length === 0) return [];
    const policy = isolatePolicy({ needs, slot: needs.slot, program: path.dirname(isolateProgram), required, closed: this.#closed });
    return sandboxCommand(policy);
  }

  #privileges(user: number | undefined): string[] {
    if (this.#setpriv === undefined) return [];
    // An isolate must not outlive a daemon that was killed, whatever the app in it does.
    return [this.#setpriv, "--pdeathsig", "KILL", "--no-new-privs", ...(user === undefined ? rootFlags() : userFlags(user)), "--"];
  }

  #limits(options: IsolateOptions): string[] {
    if (this.#prlimit === undefined) return [];
    const { permissions } = options;
    const writesFiles = permissions.some((permission) => permission.startsWith("fs-write:"));
    const hasProcesses = permissions.includes("child-process") || permissions.includes("worker-threads");
    const codeBytes = this.#codeRangeBytes * (permissions.includes("worker-threads") ? 1 + mostCodeRanges : 1);
    return [
      this.#prlimit,
      `--data=${options.memoryBytes * 2 + overheadBytes + codeBytes}`,
      "--core=0",
      `--nofile=${this.#openFiles}`,
      `--fsize=${writesFiles ? largestFileBytes : 0}`,
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

function settingsOf({ permissions, network }: IsolateOptions, { landlock }: KernelLayers): IsolateSettings {
  return {
    network,
    allowsUdp: permissions.includes("udp"),
    allowsPrograms: permissions.includes("child-process"),
    allowsAddons: permissions.includes("addons"),
    allowsDatabases: landlock.isActive || permissions.some((permission) => permission.startsWith("fs-")),
  };
}

/** Flags of setpriv for a user of its own, who is in no group and cannot become anybody else. */
export function userFlags(user: number): string[] {
  return ["--reuid", String(user), "--regid", String(user), "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];
}

/**
 * Flags of setpriv for an isolate that runs as root: of the capabilities of root only that to reach the files of other users, within
 * what Landlock leaves. None where root itself cannot give up capabilities.
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

/** Where there are no processors for helpers, garbage is collected by the thread that makes it; compiling is never left to it alone. */
function helperFlags(): string[] {
  const threads = Math.min(mostHelperThreads, availableParallelism() - processorsWithoutHelpers);
  return threads > 0 ? [`--v8-pool-size=${threads}`] : ["--v8-pool-size=1", "--single-threaded-gc"];
}

/** The most that a process of ours may allow itself. */
function ownOpenFiles(): number {
  try {
    const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
    return hard === undefined ? Infinity : Number(hard);
  } catch {
    return Infinity;
  }
}

/**
 * Bytes that V8 reserves for machine code in each of its isolates, as far as the kernel counts them as data: up to half a gigabyte, writable
 * from the start. Zero where the kernel does not count them and where /proc cannot be read. The daemon measures its own reservation, which
 * has the same size.
 */
function countedCodeRangeBytes(): number {
  try {
    const areas = readFileSync("/proc/self/maps", "latin1").matchAll(/^([\da-f]+)-([\da-f]+) rwxp/gm);
    return [...areas].reduce((sum, [, start, end]) => sum + Number.parseInt(end as string, 16) - Number.parseInt(start as string, 16), 0);
  } catch {
    return 0;
  }
}
