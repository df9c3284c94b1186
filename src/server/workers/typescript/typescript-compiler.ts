import { spawn } from "node:child_process";
import { ApiError } from "../../../shared/api-error.js";
import { findSystemTool } from "../../platform/system-tool.js";
import { sandboxCommand } from "../sandbox/sandbox-command.js";
import { emptyPolicy, layerNames, type KernelLayers } from "../sandbox/sandbox-policy.js";
import type { CompiledModule, CompileJob, CompileProblem, CompileResult } from "./compile-job.js";
import { realpath } from "node:fs/promises";
import { createRequire as requireFrom } from "node:module";
import path from "node:path";
import { compiledFile, packageRoot } from "../../package-root.js";
import { readableSystemPaths, runnableSystemPaths } from "../sandbox/sandbox-paths.js";

const compileTimeoutMs = 10_000;
/** Limit of CPU time in seconds for one compilation. It does not depend on the load of the machine. */
const processorSeconds = 5;
const compilerMemoryBytes = 1024 * 1024 * 1024;
const longestModuleBytes = 64 * 1024 * 1024;

/** Maximum number of compilations at the same time. Each occupies one core, so more of them would slow down requests. */
const compilingAtOnce = 2;
/**
 * Maximum number of compilations at the same time for all workers whose last compilation exceeded a limit. These workers then cannot delay
 * all others.
 */
const forOffenders = 1;
const rememberedOffenders = 1000;
const compilerProgram = compiledFile("server/workers/typescript/main.js");

/** Compiles TypeScript entrypoints, each in its own process. No code can then crash or occupy the compiler of another worker. */
export class TypeScriptCompiler {
  readonly #sandbox: CompilerSandbox;
  readonly #prlimit = findSystemTool("prlimit");
  readonly #queue = new CompileQueue();
  readonly #processIds = new Set<number>();

  /** `layers`: kernel layers that restrict the compiler process. */
  constructor(layers: Promise<KernelLayers>) {
    this.#sandbox = new CompilerSandbox(layers);
  }

  /**
   * Compiles the entrypoint of a worker to one module. Throws WORKER_START_FAILED. The `cause` of this error contains the whole output of
   * the compiler, if there is any.
   */
  async compile(worker: string, job: CompileJob): Promise<CompiledModule> {
    const result = await this.#runInTurn(worker, job);
    if ("text" in result) return result;
    throw startFailure("The worker's TypeScript could not be compiled", result);
  }

  /**
   * Returns an error with the position of a syntax error in a JavaScript module or its imports, because Node.js reports no position.
   * Returns undefined without a syntax error.
   */
  async findSyntaxError(worker: string, job: CompileJob): Promise<ApiError | undefined> {
    const result = await this.#runInTurn(worker, job);
    if ("text" in result || result.report === undefined) return undefined;
    return startFailure("The worker's code could not be loaded", { ...result, problem: `SyntaxError: ${result.problem}` });
  }

  /** Kills the running compilations. */
  close(): void {
    for (const processId of this.#processIds) killGroup(processId);
  }

  #runInTurn(worker: string, job: CompileJob): Promise<CompileResult> {
    return this.#queue.run(
      worker,
      async () => this.#run(job, await this.#sandbox.command(job.folder)),
      (ended) => "problem" in ended && ended.tookTooMuch === true,
    );
  }

  #run(job: CompileJob, sandbox: readonly string[]): Promise<CompileResult> {
    const limit = this.#prlimit ? [this.#prlimit, `--data=${compilerMemoryBytes}`, `--cpu=${processorSeconds}`, "--core=0", "--"] : [];
    const node = [...sandbox, process.execPath, compilerProgram, JSON.stringify(job)];
    const [file, ...args] = [...limit, ...node];
    // Starts a process group, because esbuild is a child of this child process and must be killed too.
    const child = spawn(file as string, args, { env: {}, detached: true, stdio: ["pipe", "pipe", "ignore"] });
    const { pid } = child;
    if (pid !== undefined) this.#processIds.add(pid);
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      let problem = "The compiler failed.";
      let tookTooMuch = false;
      const end = (reason: string): void => {
        problem = reason;
        tookTooMuch = true;
        if (pid !== undefined) killGroup(pid);
      };
      const timer = setTimeout(() => end(`The compilation exceeded ${compileTimeoutMs / 1000} s.`), compileTimeoutMs);
      child.stdin.on("error", () => undefined);
      child.stdout.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= longestModuleBytes) chunks.push(chunk);
        else end(`The module is larger than ${longestModuleBytes / 1024 / 1024} MB.`);
      });
      const settle = (result: CompileResult): void => {
        clearTimeout(timer);
        if (pid !== undefined) this.#processIds.delete(pid);
        resolve(result);
      };
      child.once("error", () => settle({ problem }));
      child.once("close", () => {
        // Kills child processes of the compiler that are still running.
        if (pid !== undefined) killGroup(pid);
        const answer = Buffer.concat(chunks).toString();
        const isComplete = answer.endsWith("\n") && bytes <= longestModuleBytes;
        settle(isComplete ? (JSON.parse(answer) as CompileResult) : { problem, tookTooMuch });
      });
    });
  }
}

function startFailure(sentence: string, { problem, report }: CompileProblem): ApiError {
  const cause = report === undefined ? undefined : new Error(report);
  return new ApiError("WORKER_START_FAILED", `${sentence}. ${problem}`, { cause });
}

function killGroup(processId: number): void {
  try {
    process.kill(-processId, "SIGKILL");
  } catch {
    // Ignores the error, because it means that the process group has ended.
  }
}

interface Waiting {
  readonly owner: string;
  readonly begin: () => void;
}

/**
 * Schedules compilations. Each worker has one compilation at a time. Of the workers whose last compilation exceeded a limit, only one
 * compiles at a time, so that they cannot delay other workers.
 */
export class CompileQueue {
  readonly #running = new Set<string>();
  readonly #waiting: Waiting[] = [];
  readonly #offenders = new Set<string>();

  /**
   * Waits until the worker `owner` is allowed to compile, then runs `work`. If `tookTooLong` returns true for the result, later
   * compilations of `owner` count toward `forOffenders`.
   */
  async run<Result>(owner: string, work: () => Promise<Result>, tookTooLong: (result: Result) => boolean): Promise<Result> {
    await new Promise<void>((begin) => {
      this.#waiting.push({ owner, begin });
      this.#advance();
    });
    try {
      const result = await work();
      if (tookTooLong(result)) this.#remember(owner);
      else this.#offenders.delete(owner);
      return result;
    } finally {
      this.#running.delete(owner);
      this.#advance();
    }
  }

  #advance(): void {
    const inOrder = this.#waiting.slice();
    for (const waiting of inOrder) {
      if (this.#running.size >= compilingAtOnce) return;
      if (!this.#mayRun(waiting.owner)) continue;
      this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      this.#running.add(waiting.owner);
      waiting.begin();
    }
  }

  #mayRun(owner: string): boolean {
    if (this.#running.has(owner)) return false;
    if (!this.#offenders.has(owner)) return true;
    return [...this.#running].filter((running) => this.#offenders.has(running)).length < forOffenders;
  }

  #remember(owner: string): void {
    this.#offenders.add(owner);
    const [oldest] = this.#offenders;
    if (this.#offenders.size > rememberedOffenders && oldest !== undefined) this.#offenders.delete(oldest);
  }
}

/**
 * Restricts the compiler process, because a package can contain hostile code. The process can read one package and its own program, and run
 * esbuild.
 */
class CompilerSandbox {
  readonly #layers: Promise<KernelLayers>;
  readonly #programs = esbuildFolders();

  constructor(layers: Promise<KernelLayers>) {
    this.#layers = layers;
  }

  /**
   * Returns the beginning of the command line that restricts the compiler to the package in `folder`. Empty if the kernel supports no
   * layer.
   */
  async command(folder: string): Promise<string[]> {
    const layers = await this.#layers;
    const required = layerNames.filter((name) => layers[name].isActive);
    if (required.length === 0) return [];
    return sandboxCommand({
      ...emptyPolicy,
      readable: [
        await realpath(folder),
        path.dirname(compilerProgram),
        path.join(packageRoot, "package.json"),
        ...readableSystemPaths({ allowsPrograms: false }),
      ],
      runnable: [...runnableSystemPaths({ allowsPrograms: false }), ...this.#programs],
      // Allows Unix sockets, because Node.js connects to the standard streams of a child process by them.
      allowsUnixSockets: true,
      allowsPrograms: true,
      required,
    });
  }
}

/** Returns the folders of esbuild and of its binary for this machine. */
function esbuildFolders(): string[] {
  const esbuild = requireFrom(import.meta.url).resolve("esbuild/package.json");
  const program = requireFrom(esbuild).resolve(`@esbuild/${process.platform}-${process.arch}/package.json`);
  return [esbuild, program].map((file) => path.dirname(file));
}
