import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { request } from "undici";
import { startDaemon } from "../support/daemon.mjs";
import { workerOf } from "../support/worker-source.mjs";
import { formOf, packWorker } from "./editions.mjs";

const inside = new URL("../soak/inside-daemon.mjs", import.meta.url).href;
const answerTimeoutMs = 60_000;
const syncInterval = "1s";
const names = ["A", "B", "C"];

/** Returns the workers that are installed at the start. The load enables and disables `toggled`, and all other workers stay enabled. */
async function startingWorkers() {
  return {
    steady: await workerOf("ok.js"),
    echo: await workerOf("echo.js"),
    site: { files: { "index.html": "<!doctype html><title>site</title>" } },
    toggled: { files: { "index.html": "<!doctype html><title>toggled</title>" } },
  };
}

/** Daemons with directories of their own that share keys through a primary, and workers and plugins through a registry. */
export class Daemons {
  #stage;
  #record;
  #homes;
  #env;
  all = [];

  constructor(stage, { record, homes, primaryUrl, registryUrl }) {
    this.#stage = stage;
    this.#record = record;
    this.#homes = homes;
    this.#env = {
      RUNTIME_PACKAGE_STORE: `oci:${registryUrl}/mixed-load`,
      RUNTIME_AUTH_DB_MODE: "sync",
      RUNTIME_AUTH_DB_SYNC_URL: primaryUrl,
      RUNTIME_AUTH_DB_SYNC_INTERVAL: syncInterval,
    };
  }

  static async start(stage, { record, count, primaryUrl, registryUrl }) {
    const homes = await Promise.all(Array.from({ length: count }, () => stage.temporaryDirectory()));
    const daemons = new Daemons(stage, { record, homes, primaryUrl, registryUrl });
    await daemons.startAll();
    await daemons.#uploadStartingWorkers(await stage.temporaryDirectory());
    return daemons;
  }

  /** The folders of unfinished changes of all daemons. */
  get stagingFolders() {
    return this.#homes.flatMap((home) => ["workers", "plugins"].map((kind) => path.join(home, kind, ".staging")));
  }

  /** Uploads the workers at the first daemon, and waits until each daemon serves them. */
  async #uploadStartingWorkers(directory) {
    const workers = await startingWorkers();
    for (const [name, { files }] of Object.entries(workers)) {
      const form = formOf(await packWorker(directory, name, files));
      await this.call(this.all[0], "upload at the start", { method: "POST", route: "/workers/upload", form });
    }
    const deadlineMs = this.#record.nowMs() + answerTimeoutMs;
    const isServed = async (name) => {
      const answers = await Promise.all(this.all.map((daemon) => this.look(daemon, "wait for the start", `/${name}/`)));
      return answers.every(({ status }) => status !== 404);
    };
    for (const name of Object.keys(workers))
      while (!(await isServed(name))) {
        if (this.#record.nowMs() > deadlineMs) throw new Error(`not all daemons serve ${name}`);
        await delay(100);
      }
  }

  async startAll() {
    this.all = await Promise.all(this.#homes.map((directory, index) => this.#start(directory, names[index])));
  }

  /** Stops all daemons after they have completed their requests. Fails if a daemon does not exit with success. */
  async stopAll() {
    for (const daemon of this.all) {
      daemon.isStopping = true;
      await daemon.stop();
      if (daemon.child.exitCode !== 0)
        this.#record.problem(`${daemon.name} ended with ${daemon.child.exitCode ?? daemon.child.signalCode}`);
    }
  }

  async #start(directory, name) {
    const daemon = { name, ...(await startDaemon(this.#stage, { directory, env: this.#env, nodeFlags: ["--import", inside] })) };
    daemon.child.stdout.on("data", (chunk) => readInside(daemon, String(chunk)));
    daemon.child.once("exit", (status, signal) => daemon.isStopping || this.#record.problem(`${name} ended with ${status ?? signal}`));
    return daemon;
  }

  /**
   * Calls the API of one daemon and returns `{ status, code, body }`. A call without a response is recorded as a problem and has status 0.
   */
  async call(daemon, title, { method = "GET", route, json, form }) {
    const startedAtMs = this.#record.nowMs();
    const answer = await send(daemon, { method, route, json, form }).catch((error) => ({ status: 0, code: error.message }));
    if (answer.status === 0) this.#record.problem(`${title} at ${daemon.name}: ${answer.code}`);
    this.#record.answered(title, { ...answer, startedAtMs });
    return answer;
  }

  /** Returns the response of one daemon for a path: `{ status, text }`. */
  async look(daemon, title, route, headers = {}) {
    const startedAtMs = this.#record.nowMs();
    try {
      const { statusCode: status, body } = await request(`${daemon.url}${route}`, { headers });
      const text = await body.text();
      if (status >= 500) this.#record.answered(title, { status, code: codeOf(text), startedAtMs });
      return { status, text };
    } catch (error) {
      this.#record.problem(`${title} at ${daemon.name}: ${error.message}`);
      return { status: 0, text: "" };
    }
  }
}

async function send(daemon, { method, route, json, form }) {
  const response = await fetch(`${daemon.url}/api${route}`, {
    method,
    headers: { ...daemon.headers, ...(json && { "content-type": "application/json" }) },
    body: form ?? (json && JSON.stringify(json)),
    signal: AbortSignal.timeout(answerTimeoutMs),
  });
  const text = await response.text();
  const body = text === "" ? undefined : JSON.parse(text);
  return { status: response.status, code: body?.error?.code, body };
}

function codeOf(text) {
  try {
    return JSON.parse(text).error?.code;
  } catch {
    return undefined;
  }
}

function readInside(daemon, text) {
  const lines = text.split("\n").filter((line) => line.startsWith("inside {") && line.endsWith("}"));
  if (lines.length > 0) daemon.inside = JSON.parse(lines.at(-1).slice("inside ".length));
}
