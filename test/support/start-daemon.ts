import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const daemonProgram = fileURLToPath(new URL("../../bin/runtimed.js", import.meta.url));
/** Time limit of a start. A start takes 300 ms, but several seconds on a slow machine. */
const startTimeoutMs = 30_000;

export interface TestDaemon {
  /** Origin, such as `http://127.0.0.1:43210`. */
  readonly url: string;
  /** Origin of the API and the panel. Without an admin listener, the same as `url`. */
  readonly adminUrl: string;
  readonly rootKey: string;
  /** Temporary folder with `workers`, `plugins` and `state`. */
  readonly directory: string;
  readonly process: ChildProcess;
  /** Returns the daemon's output so far. */
  readonly output: () => string;
  /** Sends SIGTERM, waits for the exit and returns its code. Keeps the folder. */
  readonly stop: () => Promise<number | null>;
  /** Sends SIGKILL and waits for the exit. Keeps the folder. */
  readonly kill: () => Promise<void>;
  /** Stops the daemon if the daemon runs, and deletes the folder. */
  readonly dispose: () => Promise<void>;
}

/** Starts a shell first, because systemd names the receiving process by its id, which exists only after the start. */
const asService = ["-c", 'LISTEN_PID=$$ exec "$0" "$@"'];

/** Users for daemons of security tests: root with a user for each isolate, and an unprivileged user like under the shipped unit. */
export const daemonUsers: readonly (readonly [name: string, options: { readonly uid?: number; readonly directoryMode?: number }])[] =
  process.getuid?.() === 0
    ? [
        ["root", { directoryMode: 0o711 }],
        ["uid 65534", { uid: 65_534 }],
      ]
    : [[`uid ${process.getuid?.()}`, {}]];

/** Returns the arguments before a command that runs it as another user. */
export function asUser(uid: number): string[] {
  return ["setpriv", "--reuid", String(uid), "--regid", String(uid), "--clear-groups", "--inh-caps=-all", "--bounding-set=-all", "--"];
}

/**
 * Starts a real `runtimed` with a root key on a free port, in a temporary folder or `directory`, and waits until it listens. `listenFds`
 * are passed like systemd does.
 */
export async function startDaemon(
  options: {
    env?: Record<string, string>;
    directory?: string;
    /** Path of `runtimed`. Default: that of this checkout. */
    program?: string;
    listenFds?: readonly number[];
    /** A program with arguments that executes the command line after them in the same process. */
    launcher?: readonly string[];
    /** User and group with which the daemon runs, without capabilities. Only root can choose another user. */
    uid?: number | undefined;
    /** Mode of the temporary folder. Isolates run as their own users only if these users can enter the folder. */
    directoryMode?: number | undefined;
  } = {},
): Promise<TestDaemon> {
  const directory = options.directory ?? (await mkdtemp(path.join(tmpdir(), "runtimed-test-")));
  const rootKey = "root-key-of-a-test";
  const { listenFds = [], launcher = listenFds.length > 0 ? ["sh", ...asService] : [], uid } = options;
  if (uid !== undefined) await chown(directory, uid, uid);
  if (options.directoryMode !== undefined) await chmod(directory, options.directoryMode);
  const [file, ...args] = [...(uid === undefined ? [] : asUser(uid)), ...launcher, process.execPath, options.program ?? daemonProgram];
  const child = spawn(file, args, {
    cwd: directory,
    stdio: ["ignore", "pipe", "pipe", ...listenFds],
    env: {
      PATH: process.env["PATH"] ?? "",
      HOST: "127.0.0.1",
      PORT: "0",
      RUNTIME_ROOT_KEY: rootKey,
      RUNTIME_WORKER_DIRS: path.join(directory, "workers"),
      RUNTIME_PLUGIN_DIRS: path.join(directory, "plugins"),
      RUNTIME_STATE_DIR: path.join(directory, "state"),
      // Allows workers to connect to the servers of the tests, which listen on loopback addresses.
      RUNTIME_WORKER_NETWORK_ALLOW: "loopback",
      // When the tests run under the shipped unit, the daemon has the isolation of the unit.
      ...(process.env["RUNTIME_ISOLATION"] !== undefined && { RUNTIME_ISOLATION: process.env["RUNTIME_ISOLATION"] }),
      ...(listenFds.length > 0 && { LISTEN_FDS: String(listenFds.length), LISTEN_FDNAMES: listenFds.map(() => "http").join(":") }),
      ...options.env,
    },
  });
  let output = "";
  const exited = once(child, "exit");
  const kill = async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await exited;
  };
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`the daemon did not listen within ${startTimeoutMs} ms:\n${output}`));
    }, startTimeoutMs);
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const address = /"address":"(http:[^"]+)".*\n/.exec(output)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", (code) => {
      clearTimeout(timer);
      reject(new Error(`the daemon ended with ${code} before it listened:\n${output}`));
    });
  });
  return {
    url,
    adminUrl: /"admin":"(http:[^"]+)"/.exec(output)?.[1] ?? url,
    rootKey,
    directory,
    process: child,
    output: () => output,
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
      return child.exitCode;
    },
    kill,
    dispose: async () => {
      await kill();
      // After `kill`, processes of the daemon write until they notice its end.
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
