// Two daemons that share a primary, for the pictures of the instances.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../bench/support/free-port.mjs";
import { waitForResponse } from "../../bench/support/server.mjs";
import { Sqld } from "../../bench/support/sqld.mjs";
import { Stage } from "../../bench/support/stage.mjs";
import { keys } from "./sample-packages.mjs";

const bin = fileURLToPath(new URL("../../bin/", import.meta.url));
const rootKey = "root-key-of-the-pictures";
const startTimeoutMs = 30_000;

/** Starts a libSQL server and two daemons, `eu-1` and the drained `eu-2`, in a temporary folder. The caller must close them. */
export async function openSampleInstances() {
  const instances = new SampleInstances();
  try {
    await instances.fill();
    return instances;
  } catch (error) {
    await instances.close();
    throw error;
  }
}

class SampleInstances {
  /** Address of `eu-1`. */
  url = "";
  /** Key of the user who signs in to the panel and the dashboard. */
  panelKey;
  directory;
  #stage = new Stage({});
  #daemons = [];

  async fill() {
    this.directory = await this.#stage.temporaryDirectory();
    const { url: primaryUrl } = await Sqld.start(this.#stage);
    const urls = [];
    for (const name of ["eu-1", "eu-2"]) urls.push(await this.#startDaemon(name, primaryUrl));
    [this.url] = urls;
    for (const url of urls) await this.#deploy(url);
    this.panelKey = (
      await this.#send(
        "POST",
        "/api/keys",
        keys.find(({ name }) => name === "ada"),
      )
    ).data.key;
    await this.#send("POST", "/api/instances/eu-2/drain");
    await waitUntil("eu-2 drains", async () => {
      const listed = await this.#send("GET", "/api/instances");
      return listed.some(({ state }) => state === "draining");
    });
  }

  /** Ends the daemons before their primary, so that they remove their heartbeats. */
  async close() {
    for (const daemon of this.#daemons) await this.#stage.end(daemon);
    await this.#stage.dispose();
  }

  async #startDaemon(name, primaryUrl) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const cwd = path.join(this.directory, name);
    await mkdir(cwd);
    const env = {
      PATH: process.env.PATH,
      HOST: "127.0.0.1",
      PORT: String(port),
      RUNTIME_ROOT_KEY: rootKey,
      RUNTIME_AUTH_DB_MODE: "sync",
      RUNTIME_AUTH_DB_SYNC_URL: primaryUrl,
      RUNTIME_INSTANCE_NAME: name,
      RUNTIME_INSTANCE_URL: url,
    };
    const stdio = ["ignore", "ignore", "inherit"];
    const daemon = this.#stage.spawn(process.execPath, [path.join(bin, "runtimed.js")], { cwd, env, stdio });
    this.#daemons.push(daemon);
    await waitForResponse(daemon, `${url}/api/health/ready`, name);
    return url;
  }

  /** Installs a worker and sends it one request, so that the daemon has an isolate. */
  async #deploy(url) {
    const folder = path.join(this.directory, "storefront");
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "manifest.yaml"), "name: storefront\nversion: 2.5.0\n");
    await writeFile(path.join(folder, "index.js"), 'export default { fetch: () => new Response("ok") };\n');
    const env = {
      PATH: process.env.PATH,
      RUNTIMECTL_URL: url,
      RUNTIMECTL_KEY: rootKey,
      RUNTIMECTL_CONFIG_DIR: path.join(this.directory, "runtimectl"),
    };
    await this.#stage.run(process.execPath, [path.join(bin, "runtimectl.js"), "deploy", folder], { env });
    await fetch(`${url}/storefront/`);
  }

  async #send(method, target, body) {
    const headers = { "content-type": "application/json", "x-api-key": rootKey, origin: this.url };
    const response = await fetch(`${this.url}${target}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!response.ok) throw new Error(`${target}: ${await response.text()}`);
    return response.json();
  }
}

async function waitUntil(what, isTrue) {
  const deadline = Date.now() + startTimeoutMs;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`Within ${startTimeoutMs / 1000} s, this did not happen: ${what}`);
    await delay(100);
  }
}
