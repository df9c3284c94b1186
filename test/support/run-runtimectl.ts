import path from "node:path";
import { fileURLToPath } from "node:url";
import { runInProcess, type InProcessRun } from "./run-in-process.js";

export const runtimectlProgram = fileURLToPath(new URL("../../bin/runtimectl.js", import.meta.url));

/** Returns the environment of a command that needs no profile. */
export function runtimectlEnvironment(daemon: { url: string; rootKey: string; directory: string }): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    RUNTIMECTL_URL: daemon.url,
    RUNTIMECTL_KEY: daemon.rootKey,
    RUNTIMECTL_CONFIG_DIR: path.join(daemon.directory, "runtimectl"),
  };
}

/** Runs a command line against a daemon in this process, without a terminal. The key is in the environment. */
export function runRuntimectl(
  daemon: { url: string; rootKey: string; directory: string },
  argv: readonly string[],
  { cwd = daemon.directory, input }: { cwd?: string; input?: string } = {},
): Promise<InProcessRun> {
  return runInProcess(argv, { env: runtimectlEnvironment(daemon), cwd, input });
}
