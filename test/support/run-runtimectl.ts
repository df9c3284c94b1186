import { spawn } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const runtimectlProgram = fileURLToPath(new URL("../../bin/runtimectl.js", import.meta.url));

export interface Finished {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Of a command that needs no profile. */
export function runtimectlEnvironment(daemon: { url: string; rootKey: string; directory: string }): Record<string, string> {
  return {
    PATH: process.env["PATH"] ?? "",
    RUNTIMECTL_URL: daemon.url,
    RUNTIMECTL_KEY: daemon.rootKey,
    RUNTIMECTL_CONFIG_DIR: path.join(daemon.directory, "runtimectl"),
  };
}

/** Runs the real `runtimectl` to its end, without a terminal, against a daemon; the key goes through the environment. */
export async function runRuntimectl(
  daemon: { url: string; rootKey: string; directory: string },
  args: readonly string[],
  options: { cwd?: string; input?: string } = {},
): Promise<Finished> {
  const child = spawn(process.execPath, [runtimectlProgram, ...args], {
    env: runtimectlEnvironment(daemon),
    cwd: options.cwd ?? daemon.directory,
    stdio: ["pipe", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.end(options.input ?? "");
  const status = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { status, stdout, stderr };
}
