import { runCli } from "../../src/cli/run-cli.js";
import { createTestIo, type TestIoOptions } from "./create-test-io.js";

export interface InProcessOptions extends TestIoOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly signal?: AbortSignal;
}

export interface InProcessRun {
  /** Exit code. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line of `runtimectl` in this process, without a build. */
export async function runInProcess(argv: readonly string[], options: InProcessOptions): Promise<InProcessRun> {
  const { env, cwd, signal, ...ioOptions } = options;
  const io = createTestIo(ioOptions);
  const status = await runCli({ argv, env: { ...env }, cwd, io, ...(signal && { signal }) });
  return { status, stdout: io.stdoutText(), stderr: io.stderrText() };
}
