import { spawn } from "node:child_process";
import { ApiError } from "../../../shared/api-error.js";
import { compiledFile } from "../../package-root.js";
import { findSystemTool } from "../system-tool.js";
import type { CompileJob, CompileResult } from "./compile-job.js";

const compileTimeoutMs = 20_000;
const compilerMemoryBytes = 1024 * 1024 * 1024;
const longestModuleBytes = 64 * 1024 * 1024;
/** Compiling takes a core; more at once would only take it from what is served. */
const compilingAtOnce = 2;

/** Compiles TypeScript entrypoints in processes of their own, so that no code can crash, fill or occupy the compiler of another. */
export class TypeScriptCompiler {
  readonly #prlimit = findSystemTool("prlimit");
  readonly #waiting: (() => void)[] = [];
  readonly #processIds = new Set<number>();
  #freeSlots = compilingAtOnce;

  /** The text of one module. Throws WORKER_START_FAILED. */
  async compile(job: CompileJob): Promise<string> {
    if (this.#freeSlots > 0) this.#freeSlots -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      const result = await this.#run(job);
      if ("text" in result) return result.text;
      throw new ApiError("WORKER_START_FAILED", `The worker's TypeScript could not be compiled. ${result.problem}`);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#freeSlots += 1;
    }
  }

  /** Ends what is being compiled. */
  close(): void {
    for (const processId of this.#processIds) killGroup(processId);
  }

  #run(job: CompileJob): Promise<CompileResult> {
    const limit = this.#prlimit ? [this.#prlimit, `--data=${compilerMemoryBytes}`, "--core=0", "--"] : [];
    const node = [process.execPath, compiledFile("server/workers/typescript/main.js"), JSON.stringify(job)];
    const [file, ...args] = [...limit, ...node];
    // A group of its own: the compiler proper is a child of this child.
    const child = spawn(file as string, args, { env: {}, detached: true, stdio: ["pipe", "pipe", "ignore"] });
    const { pid } = child;
    if (pid !== undefined) this.#processIds.add(pid);
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      let problem = "The compiler failed.";
      const end = (reason: string): void => {
        problem = reason;
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
        settle(code === 0 && bytes <= longestModuleBytes ? (JSON.parse(Buffer.concat(chunks).toString()) as CompileResult) : { problem });
      });
    });
  }
}

function killGroup(processId: number): void {
  try {
    process.kill(-processId, "SIGKILL");
  } catch {
    // Nobody of the group is left.
  }
}
