import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

/** Time that a process has to end by itself before it is killed. */
const endTimeoutMs = 8_000;

/** The processes and folders of one suite. At the end of the suite, all processes are ended and all folders deleted. */
export class Stage {
  settings;
  load;
  #children = new Set();
  #directories = [];

  constructor({ settings, load }) {
    this.settings = settings;
    this.load = load;
  }

  /** Starts a child process that is ended at the end of the suite at the latest. */
  spawn(command, args, options = {}) {
    const child = spawn(command, args, options);
    this.#children.add(child);
    const forget = () => this.#children.delete(child);
    child.once("exit", forget);
    child.once("error", forget);
    return child;
  }

  /** Runs a command until it exits and returns its stdout. Throws if the command fails. */
  async run(command, args, options = {}) {
    const child = this.spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
    let output = "";
    let complaints = "";
    child.stdout?.on("data", (chunk) => (output += chunk));
    child.stderr?.on("data", (chunk) => (complaints += chunk));
    const [status, signal] = await once(child, "close");
    if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status ?? signal}: ${complaints || output}`);
    return output;
  }

  async temporaryDirectory(parent = tmpdir()) {
    const directory = await mkdtemp(path.join(parent, "bench-"));
    this.#directories.push(directory);
    return directory;
  }

  async end(child, signal = "SIGTERM") {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    const isOver = await Promise.race([exited.then(() => true), delay(endTimeoutMs, false, { ref: false })]);
    if (isOver) return;
    child.kill("SIGKILL");
    await exited;
  }

  async dispose() {
    await Promise.all([...this.#children].map((child) => this.end(child)));
    for (const directory of this.#directories.splice(0)) await rm(directory, { recursive: true, force: true });
  }
}
