import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const clientProgram = fileURLToPath(new URL("steady-client.mjs", import.meta.url));
const controlProgram = fileURLToPath(new URL("steady-control.mjs", import.meta.url));

/** Results of a worker under steady load since the last call. */
export interface LoadWindow {
  readonly timesMs: readonly number[];
  readonly problems: readonly string[];
}

/** A worker that {@link SteadyLoad} can check: it responds with the number in the query and 1 KB. */
export const neighborSource = `
export default { fetch(request) {
  const { pathname, search } = new URL(request.url);
  return new Response(pathname === "/pid" ? String(process.pid) : search.slice(1) + ":" + "x".repeat(1000));
} };`;

/** Sends 200 requests per second to one worker over a few connections, from a separate process, until stopped. */
export class SteadyLoad {
  readonly #child: ChildProcess;

  /** `env`: additional environment of its process. */
  constructor(url: string, env: Record<string, string> = {}) {
    this.#child = fork(clientProgram, [url], { execArgv: [], env: { ...process.env, ...env } });
  }

  /** Returns the results since the last call. */
  async take(): Promise<LoadWindow> {
    const answer = once(this.#child, "message");
    this.#child.send("take");
    const [window] = (await answer) as [LoadWindow];
    return window;
  }

  stop(): Promise<void> {
    return end(this.#child);
  }
}

/** Sends the same load to a server without a daemon. Its results show the effect of the machine. */
export class ControlLoad {
  readonly #server: ChildProcess;
  readonly #load: SteadyLoad;

  static async start(): Promise<ControlLoad> {
    const server = fork(controlProgram, [], { execArgv: [] });
    const [port] = (await once(server, "message")) as [number];
    return new ControlLoad(server, port);
  }

  private constructor(server: ChildProcess, port: number) {
    this.#server = server;
    this.#load = new SteadyLoad(`http://127.0.0.1:${port}/`);
  }

  take(): Promise<LoadWindow> {
    return this.#load.take();
  }

  async stop(): Promise<void> {
    await this.#load.stop();
    await end(this.#server);
  }
}

async function end(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

export function p99Of(timesMs: readonly number[]): number {
  const sorted = timesMs.toSorted((left, right) => left - right);
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}
