import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import { runtimectlEnvironment, runtimectlProgram } from "./run-runtimectl.js";

export interface Started {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  /** Output so far. */
  readonly shown: { stdout: string; stderr: string };
  readonly ended: Promise<number | null>;
}

/** Starts a command of the real `runtimectl` that runs until it is interrupted. The test's end kills it. */
export function startRuntimectl(daemon: { url: string; rootKey: string; directory: string }, args: readonly string[]): Started {
  const child = spawn(process.execPath, [runtimectlProgram, ...args], {
    env: runtimectlEnvironment(daemon),
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const shown = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (shown.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (shown.stderr += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, shown, ended };
}
