import { fileURLToPath } from "node:url";
import { waitForOutput } from "../support/server.mjs";

const program = fileURLToPath(new URL("../peers/app-process.mjs", import.meta.url));
/** The limits of an isolate: heap size, and memory that the process can allocate. */
const limits = ["prlimit", `--data=${384 * 1024 * 1024}`, "--core=0", "--", process.execPath, "--max-old-space-size=64"];

/** An app without a daemon: a process that is started again when it ends, and killed when it does not respond. */
export class AppProcess {
  #stage;
  #file;
  #child;
  #url;
  #isOver = false;

  static async start(stage, file) {
    const app = new AppProcess(stage, file);
    await app.#run();
    return app;
  }

  constructor(stage, file) {
    this.#stage = stage;
    this.#file = file;
  }

  /** Undefined while the process does not run. */
  get url() {
    return this.#url;
  }

  kill() {
    this.#child.kill("SIGKILL");
  }

  end() {
    this.#isOver = true;
    this.kill();
  }

  async #run() {
    const [command, ...args] = [...limits, program, this.#file];
    this.#child = this.#stage.spawn(command, args, { stdio: ["ignore", "pipe", "ignore"] });
    const port = waitForOutput(this.#child, /^listening (\d+)$/m, this.#file);
    // The process can be killed while it starts, so a rejection is not an error.
    port.catch(() => undefined);
    this.#child.once("exit", () => {
      this.#url = undefined;
      if (!this.#isOver) void this.#run().catch(() => undefined);
    });
    this.#url = `http://127.0.0.1:${await port}`;
  }
}
