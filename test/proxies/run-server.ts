import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { childProcessesOf } from "../support/child-processes.js";

const startTimeoutMs = 30_000;

interface ServerOptions {
  /** Line of the output that tells that the server accepts connections. */
  readonly ready: RegExp;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A running server. */
export interface Server {
  /** Returns the output so far. */
  readonly output: () => string;
  /** Sends SIGHUP. */
  readonly reload: () => void;
  /** Sends SIGKILL to the server and its child processes, and waits for the exit of the server. */
  readonly kill: () => Promise<void>;
}

/** Runs a server until the test ends. Resolves when its output matches `ready`. */
export async function runServer(file: string, args: readonly string[], { ready, cwd, env }: ServerOptions): Promise<Server> {
  const child = spawn(file, args, { cwd, stdio: ["ignore", "pipe", "pipe"], env: { PATH: process.env["PATH"], HOME: cwd, ...env } });
  let output = "";
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      if (ready.test(output)) resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", () => reject(new Error(`${file} is not installed; this test needs it (apt install nginx caddy pebble)`)));
    child.once("exit", (status) => reject(new Error(`${file} ended with ${status}:\n${output}`)));
    setTimeout(() => reject(new Error(`${file} did not listen within ${startTimeoutMs} ms:\n${output}`)), startTimeoutMs).unref();
  });
  const end = async (pids: readonly number[], signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    for (const pid of pids) process.kill(pid, signal);
    await exited;
  };
  const pid = child.pid as number;
  onTestFinished(() => end([pid], "SIGTERM"));
  return {
    output: () => output,
    reload: () => void child.kill("SIGHUP"),
    // The main process is the first: otherwise it would start new child processes.
    kill: () => end([pid, ...childProcessesOf(pid)], "SIGKILL"),
  };
}
