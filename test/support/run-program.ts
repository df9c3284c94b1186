import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";

export interface ProgramEnd {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Node with these arguments and only the given environment, and waits for its end. */
export async function runProgram(
  args: readonly string[],
  options: { cwd: string; env: Readonly<Record<string, string>> },
): Promise<ProgramEnd> {
  const child = spawn(process.execPath, args, {
    cwd: options.cwd,
    env: { PATH: process.env["PATH"] ?? "", ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [[code], stdout, stderr] = await Promise.all([
    once(child, "exit") as Promise<[number | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, stdout, stderr };
}
