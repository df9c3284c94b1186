import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

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
  onTestFinished(async () => {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  });
  return { output: () => output };
}
