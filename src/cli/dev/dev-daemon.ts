import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import type { DevReport } from "../../shared/dev-report.js";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import { installedFile } from "../installed-file.js";
import type { Variables } from "../config/user-directories.js";

const program = installedFile("dist/server/dev-daemon.js");
/** From the request to stop to SIGKILL. */
const stopTimeoutMs = 1500;

export type Answered = Extract<DevReport, { kind: "answered" }>;

export interface DevDaemonOptions {
  /** Private, and made for this daemon alone. */
  readonly directory: string;
  readonly host: string;
  readonly port: number;
  /** Variables of the command; of these the daemon receives PATH. */
  readonly variables: Variables;
  /** A line of its log: JSON, or the words that it ends with. */
  readonly onLine: (line: string) => void;
  readonly onAnswered: (answered: Answered) => void;
}

/** The package's own daemon as a child process. It ends when we do, however we end: its channel to us closes then. */
export class DevDaemon {
  readonly origin: string;
  readonly rootKey: string;
  /** Resolves with the last of what it said, when it ends. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;

  private constructor(parts: { origin: string; rootKey: string; child: ChildProcess; ended: Promise<string> }) {
    this.origin = parts.origin;
    this.rootKey = parts.rootKey;
    this.ended = parts.ended;
    this.#child = parts.child;
  }

  /** Starts it and waits until it listens. */
  static async start({ directory, host, port, variables, onLine, onAnswered }: DevDaemonOptions): Promise<DevDaemon> {
    const rootKey = randomBytes(32).toString("base64url");
    const rootKeyFile = path.join(directory, "root.key");
    await writeFile(rootKeyFile, rootKey, { flag: "wx", mode: 0o600 });
    const child = spawn(process.execPath, [program, directory], {
      // Ctrl-C is for us: we end it.
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
        // With what workers write for their developers.
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

  /** Lets it end what runs, for a moment. */
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
  return new CommandError("DAEMON_ENDED", `the local daemon ended${words === "" ? "" : `: ${words}`}`, { exitCode: exitCodes.failed });
}
