import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { DevReport } from "../../shared/dev-report.js";
import { CommandError, usageError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import { installedFile } from "../installed-file.js";
import type { Variables } from "../config/user-directories.js";
import { createServer } from "node:net";

const program = installedFile("dist/server/dev-daemon.js");
/** Time between SIGTERM and SIGKILL, in which the daemon can stop by itself. */
const stopTimeoutMs = 1500;

const usualPort = 8787;
const triedPorts = 100;

export type Answered = Extract<DevReport, { kind: "answered" }>;

interface DevDaemonOptions {
  /** Folder for state, workers and plugins of the daemon. No other daemon uses this folder. */
  readonly directory: string;
  readonly host: string;
  readonly port: number;
  /** The environment variables of `runtimectl dev`. The daemon receives only PATH. */
  readonly variables: Variables;
  /** Callback for each log line of the daemon. A line is JSON, or plain text for a fatal error. */
  readonly onLine: (line: string) => void;
  readonly onAnswered: (answered: Answered) => void;
}

/**
 * A daemon that `runtimectl dev` starts as a child process. The daemon stops when the IPC channel to the command closes, so it never
 * outlives the command.
 */
export class DevDaemon {
  readonly origin: string;
  readonly rootKey: string;
  /** Resolves with the daemon's last log line when the daemon ends. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;

  private constructor(parts: { origin: string; rootKey: string; child: ChildProcess; ended: Promise<string> }) {
    this.origin = parts.origin;
    this.rootKey = parts.rootKey;
    this.ended = parts.ended;
    this.#child = parts.child;
  }

  /** Starts the daemon. Resolves when the daemon accepts requests. */
  static async start({ directory, host, port, variables, onLine, onAnswered }: DevDaemonOptions): Promise<DevDaemon> {
    const rootKey = randomBytes(32).toString("base64url");
    const rootKeyFile = path.join(directory, "root.key");
    await writeFile(rootKeyFile, rootKey, { flag: "wx", mode: 0o600 });
    const child = spawn(process.execPath, [program, directory], {
      // Starts the daemon in its own process group. Ctrl-C in the terminal then signals only the command, and the command stops the daemon.
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      env: {
        PATH: variables["PATH"],
        HOST: host,
        PORT: String(port),
        RUNTIME_ROOT_KEY_FILE: rootKeyFile,
        RUNTIME_WORKER_DIRS: path.join(directory, "workers"),
        RUNTIME_PLUGIN_DIRS: path.join(directory, "plugins"),
        RUNTIME_STATE_DIR: path.join(directory, "state"),
        RUNTIME_CHECK_UPLOADS: "true",
        RUNTIME_WORKER_NETWORK_ALLOW: "loopback",
        // Disables system users for isolates, because other users cannot read the private folder of `runtimectl dev`. The value also
        // prevents a warning if root runs the daemon.
        RUNTIME_WORKER_UIDS: "off",
        // Uses this level, because at all other levels the log does not contain the debug output of workers.
        RUNTIME_LOG_LEVEL: "debug",
      },
    });
    let last = "";
    for (const stream of [child.stdout, child.stderr])
      if (stream) createInterface({ input: stream }).on("line", (line) => onLine((last = line)));
    const ended = new Promise<string>((resolve) => {
      child.once("error", (error) => resolve(error.message));
      child.once("close", () => resolve(last));
    });
    const listening = new Promise<string>((resolve) =>
      child.on("message", (report: DevReport) => (report.kind === "listening" ? resolve(report.origin) : onAnswered(report))),
    );
    const origin = await Promise.race([listening, ended.then((words) => Promise.reject(daemonEnded(words)))]);
    return new DevDaemon({ origin, rootKey, child, ended });
  }

  /** Stops the daemon with SIGTERM. After `stopTimeoutMs`, sends SIGKILL. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.kill(), stopTimeoutMs);
    await this.ended;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}

export function daemonEnded(words: string): CommandError {
  return new CommandError("DAEMON_ENDED", `the local daemon stopped unexpectedly${words === "" ? "" : `: ${words}`}`, {
    exitCode: exitCodes.failed,
  });
}

/**
 * Returns the port in `--port`, or throws if the port is in use. Without `--port`, returns the default port or, if another program uses it,
 * the next free port. `taken` is the default port if it is in use.
 */
export async function choosePort(host: string, given: string | undefined): Promise<{ port: number; taken: number | undefined }> {
  if (given !== undefined) {
    const port = /^\d{1,5}$/.test(given) ? Number(given) : Number.NaN;
    if (!(port <= 65_535)) throw usageError(`--port: ${given} is not a port; use a number from 0 (any free port) to 65535`);
    if (await isFree(host, port)) return { port, taken: undefined };
    throw new CommandError("PORT_TAKEN", `port ${port} is in use by another program`, {
      exitCode: exitCodes.conflict,
      hint: "choose another port, or remove --port to use the next free one",
    });
  }
  for (let port = usualPort; port < usualPort + triedPorts; port += 1)
    if (await isFree(host, port)) return { port, taken: port === usualPort ? undefined : usualPort };
  return { port: 0, taken: usualPort };
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(false);
      else reject(usageError(`--host: ${host} is not an address of this machine (${error.code})`));
    });
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}
