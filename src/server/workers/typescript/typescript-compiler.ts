import { spawn } from "node:child_process";
import { ApiError } from "../../../shared/api-error.js";
import { findSystemTool } from "../../platform/system-tool.js";
import type { KernelLayers } from "../sandbox/sandbox-policy.js";
import type { CompileJob, CompileProblem, CompileResult } from "./compile-job.js";
import { CompileQueue } from "./compile-queue.js";
import { compilerProgram, CompilerSandbox } from "./compiler-sandbox.js";

const compileTimeoutMs = 10_000;
/** What counts for hostile code, however busy the machine is. */
const processorSeconds = 5;
const compilerMemoryBytes = 1024 * 1024 * 1024;
const longestModuleBytes = 64 * 1024 * 1024;

/** Compiles TypeScript entrypoints in processes of their own, so that no code can crash, fill or occupy the compiler of another. */
export class TypeScriptCompiler {
  readonly #sandbox: CompilerSandbox;
  readonly #prlimit = findSystemTool("prlimit");
  readonly #queue = new CompileQueue();
  readonly #processIds = new Set<number>();

  /** `layers` is what the kernel offers to restrict the compiler. */
  constructor(layers: Promise<KernelLayers>) {
    this.#sandbox = new CompilerSandbox(layers);
  }

  /** The text of one module of a worker. Throws WORKER_START_FAILED; its cause, if any, is all that the compiler had to say. */
  async compile(worker: string, job: CompileJob): Promise<string> {
    const result = await this.#runInTurn(worker, job);
    if ("text" in result) return result.text;
    throw startFailure("The worker's TypeScript could not be compiled", result);
  }

  /** Where the syntax of a JavaScript module or of its imports is wrong, which Node does not tell; undefined when it is not found. */
  async findSyntaxError(worker: string, job: CompileJob): Promise<ApiError | undefined> {
    const result = await this.#runInTurn(worker, job);
    if ("text" in result || result.report === undefined) return undefined;
    return startFailure("The worker's code could not be loaded", { ...result, problem: `SyntaxError: ${result.problem}` });
  }

  /** Ends what is being compiled. */
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
    // A group of its own: the compiler proper is a child of this child.
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
      const timer = setTimeout(() => end(`It took longer than ${compileTimeoutMs / 1000} s.`), compileTimeoutMs);
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
      child.once("close", (code) => {
        // What it may have left running goes with it.
        if (pid !== undefined) killGroup(pid);
        settle(
          code === 0 && bytes <= longestModuleBytes
            ? (JSON.parse(Buffer.concat(chunks).toString()) as CompileResult)
            : { problem, tookTooMuch },
        );
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
    // Nobody of the group is left.
  }
}
