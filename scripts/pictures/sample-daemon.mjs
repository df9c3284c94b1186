// A daemon with sample data, for the pictures of the control panel and the dashboard.
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../../bench/support/free-port.mjs";
import { writeSampleHistory } from "./sample-history.mjs";
import { deployments, keys, plugins, traffic } from "./sample-packages.mjs";

const bin = fileURLToPath(new URL("../../bin/", import.meta.url));
const shiftedClock = new URL("shifted-clock.mjs", import.meta.url).href;
const run = promisify(execFile);
const rootKey = "root-key-of-the-pictures";

/** Starts a daemon in a temporary folder, adds the sample data and sends requests until it is closed. The caller must close the daemon. */
export async function openSampleDaemon() {
  const directory = await mkdtemp(path.join(tmpdir(), "runtimed-pictures-"));
  const daemon = new SampleDaemon(directory);
  try {
    await daemon.fill();
    return daemon;
  } catch (error) {
    await daemon.close();
    throw error;
  }
}

class SampleDaemon {
  rootKey = rootKey;
  url = "";
  /** Key of the user who signs in to the panel and the dashboard. */
  get panelKey() {
    return this.#keys.get("ada");
  }

  directory;
  #keys = new Map([["root", rootKey]]);
  #process;
  #timers = [];
  #shiftMs = 0;

  constructor(directory) {
    this.directory = directory;
  }

  async fill() {
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    const ages = [...new Set(deployments.map(({ age }) => age))];
    for (const [index, age] of ages.entries()) {
      await this.#start(age * 60_000);
      if (index === 0) await this.#addFirst();
      for (const deployment of deployments) if (deployment.age === age) await this.#deploy(deployment, ["--message", deployment.message]);
      await this.#stop();
    }
    await writeSampleHistory(path.join(this.directory, ".runtime", "state"));
    await this.#start(0);
    await this.#send("PUT", "/api/hosts/docs.example.org", { worker: "handbook" }, "ada");
    await this.#send("POST", "/api/workers/@team/reports/cron/1/run").catch(() => undefined);
    for (const worker of traffic) this.#timers.push(setInterval(() => void this.#visit(worker), 60_000 / worker.perMinute));
    await new Promise((resolve) => setTimeout(resolve, 40_000));
  }

  async close() {
    for (const timer of this.#timers) clearInterval(timer);
    await this.#stop();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** Adds the keys, secrets, hosts and plugins. */
  async #addFirst() {
    for (const key of keys) this.#keys.set(key.name, (await this.#send("POST", "/api/keys", key)).data.key);
    await this.#send("PUT", "/api/workers/_/storefront/secrets/STRIPE_KEY", { value: "sample" }, "ada");
    await this.#send("PUT", "/api/namespaces/@team/secrets/DATABASE_TOKEN", { value: "sample" }, "ada");
    for (const plugin of plugins)
      await this.#deploy({ ...plugin, by: "ada" }, ["--message", `Install ${plugin.name}`]).catch(() => undefined);
  }

  async #deploy({ name, version, by, manifest = "", files }, flags) {
    const folder = path.join(this.directory, "packages", name, version);
    const all = { ...files, "manifest.yaml": `name: "${name}"\nversion: ${version}\n${manifest}` };
    for (const [file, content] of Object.entries(all)) {
      await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
      await writeFile(path.join(folder, file), content);
    }
    const env = {
      ...this.#environment(),
      RUNTIMECTL_URL: this.url,
      RUNTIMECTL_KEY: this.#keys.get(by),
      RUNTIMECTL_CONFIG_DIR: path.join(this.directory, "runtimectl"),
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "user.name",
      GIT_CONFIG_VALUE_0: by,
    };
    await run(process.execPath, ["--import", shiftedClock, path.join(bin, "runtimectl.js"), "deploy", folder, ...flags], { env });
  }

  async #send(method, target, body, by = "root") {
    const headers = { "content-type": "application/json", "x-api-key": this.#keys.get(by), origin: this.url };
    const response = await fetch(`${this.url}${target}`, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${target}: ${await response.text()}`);
    return response.json();
  }

  async #visit({ name, path: pathOf }) {
    // Ignores a request during the shutdown of the daemon.
    await fetch(`${this.url}/${name}/${pathOf()}`)
      .then((response) => response.text())
      .catch(() => undefined);
  }

  #environment() {
    return { PATH: process.env.PATH, SHIFT_MS: String(this.#shiftMs) };
  }

  /** Starts the daemon with a clock that is behind by `shiftMs`. */
  async #start(shiftMs) {
    this.#shiftMs = shiftMs;
    const daemon = spawn(process.execPath, ["--import", shiftedClock, path.join(bin, "runtimed.js")], {
      cwd: this.directory,
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...this.#environment(),
        HOST: "127.0.0.1",
        PORT: new URL(this.url).port,
        RUNTIME_ROOT_KEY: rootKey,
      },
    });
    this.#process = daemon;
    await new Promise((resolve, reject) => {
      let output = "";
      daemon.stdout.on("data", (chunk) => {
        output += chunk;
        if (output.includes('"address":"http:')) resolve();
      });
      daemon.once("exit", () => reject(new Error(`the daemon ended:\n${output}`)));
    });
  }

  async #stop() {
    const daemon = this.#process;
    if (!daemon || daemon.exitCode !== null) return;
    const exited = new Promise((resolve) => daemon.once("exit", resolve));
    daemon.kill("SIGTERM");
    await exited;
  }
}
