import { readdir } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startRegistry } from "../support/registry.mjs";
import { Sqld } from "../support/sqld.mjs";
import { sampleProcesses } from "../soak/sampler.mjs";
import { audit } from "./audit.mjs";
import { appNames, Changes } from "./changes.mjs";
import { Daemons } from "./daemons.mjs";
import { disturb } from "./disturbances.mjs";
import { Ledger } from "./ledger.mjs";
import { Record } from "./record.mjs";
import { Watch } from "./watch.mjs";

const servingLoad = fileURLToPath(new URL("serving-load.mjs", import.meta.url));
const sampleEveryMs = 5_000;
/** Pauses between the changes of one kind, so that two cores are enough for the load. */
const pausesMs = { app: 1_500, toggle: 1_000, plugin: 3_000, key: 500 };
/** Time in which the daemons delete replaced files after the last request. */
const leftoversGoMs = 60_000;
/** Time in which changes that run at the end of the load must be complete. */
const settleMs = 90_000;

/** Runs daemons that share keys and packages under load, changes and disturbances, then compares their state with the ledger. */
export class MixedLoad {
  #stage;
  #options;
  #untilMs;
  #record = new Record();
  #ledger = new Ledger();
  #daemons;
  #changes;
  #samples = [];
  #served = { requests: 0, failures: 0 };
  #lastSecond = { requests: 0, p99Ms: 0 };

  constructor(stage, options) {
    this.#stage = stage;
    this.#options = options;
  }

  async run() {
    const { minutes, daemonCount } = this.#options;
    const sqld = await Sqld.start(this.#stage);
    const { url: registryUrl } = await startRegistry(this.#stage);
    const options = { record: this.#record, count: daemonCount, primaryUrl: sqld.url, registryUrl };
    this.#daemons = await Daemons.start(this.#stage, options);
    const watch = new Watch({ daemons: this.#daemons, ledger: this.#ledger, record: this.#record });
    const directory = await this.#stage.temporaryDirectory();
    this.#changes = new Changes({ daemons: this.#daemons, ledger: this.#ledger, watch, directory });
    this.#untilMs = this.#record.nowMs() + minutes * 60_000;
    const load = this.#serve();
    const sampling = setInterval(() => this.#sample(), sampleEveryMs);
    try {
      await this.#disturbAndChange(sqld);
    } finally {
      clearInterval(sampling);
      await this.#stage.end(load);
    }
    await this.#compareAll();
    return this.#outcome();
  }

  async #disturbAndChange(sqld) {
    const lanes = [
      ...appNames.map((name) => this.#lane("app", (turn) => this.#changes.changeApp(name, turn))),
      this.#lane("toggle", (turn) => this.#changes.toggle(turn)),
      this.#lane("plugin", (turn) => this.#changes.changePlugin(turn)),
      this.#lane("key", (turn) => this.#changes.churnKey(turn)),
      disturb({ sqld, daemons: this.#daemons, record: this.#record, untilMs: this.#untilMs }),
    ];
    const patience = this.#untilMs - this.#record.nowMs() + settleMs;
    const hanging = delay(patience, undefined, { ref: false }).then(() => this.#record.problem("something hangs"));
    await Promise.race([Promise.all(lanes), hanging]);
  }

  async #lane(kind, change) {
    for (let turn = 0; this.#record.nowMs() < this.#untilMs; turn += 1) {
      await change(turn).catch((error) => this.#record.problem(`${kind}: ${error.message}`));
      await delay(pausesMs[kind]);
    }
  }

  #serve() {
    const { ratePerSecond } = this.#options;
    const plain = { method: "GET", bodyBytes: 0, statuses: [200] };
    const targets = this.#daemons.all.flatMap(({ url }) => [
      { ...plain, title: "serve a worker", url: `${url}/steady/` },
      { ...plain, title: "serve an echo", url: `${url}/echo/`, method: "POST", bodyBytes: 4096 },
      { ...plain, title: "serve a static site", url: `${url}/site/` },
      // These workers can be deleted, disabled or not yet installed, so status 404 is allowed.
      ...["uploaded-0", "uploaded-1", "toggled"].map((name) => ({
        ...plain,
        title: "serve what is changed",
        url: `${url}/${name}/`,
        statuses: [200, 404],
      })),
    ]);
    const child = this.#stage.spawn(process.execPath, [servingLoad, JSON.stringify({ ratePerSecond, targets })], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    child.on("message", (second) => this.#readSecond(second));
    return child;
  }

  #readSecond(second) {
    this.#lastSecond = second;
    this.#served.requests += second.requests;
    for (const [pluralize, times] of Object.entries(second.outcomes)) {
      const [title, outcome] = pluralize.split("\n");
      this.#record.count(title, outcome, times);
      if (outcome === "well") continue;
      this.#served.failures += times;
      this.#record.problem(`${title}, ${times} times: ${outcome}`);
    }
  }

  #sample() {
    const sample = { timeMs: this.#record.nowMs(), perSecond: this.#lastSecond.requests, p99Ms: this.#lastSecond.p99Ms };
    for (const { name, pid, inside, child } of this.#daemons.all) {
      if (child.exitCode !== null || child.signalCode !== null || inside === undefined) return;
      const figures = { ...sampleProcesses(pid), heapMb: inside.heapBytes / 1024 ** 2, lagMs: inside.lagMs };
      for (const [field, value] of Object.entries(figures)) sample[`${field} ${name}`] = value;
    }
    this.#samples.push(sample);
  }

  /** Checks that each daemon has every acknowledged change, also after a restart of all daemons, and that no other files are left. */
  async #compareAll() {
    const parts = { daemons: this.#daemons, ledger: this.#ledger, changes: this.#changes, record: this.#record };
    await audit("at the end", parts);
    await this.#daemons.stopAll();
    await this.#daemons.startAll();
    await audit("after a restart", parts);
    await this.#lookForLeftovers();
  }

  /** Checks for leftover files. A daemon keeps replaced files until the isolates that read them have ended. */
  async #lookForLeftovers() {
    const folders = this.#daemons.stagingFolders;
    const left = async () => (await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])))).flat();
    for (const deadlineMs = this.#record.nowMs() + leftoversGoMs; (await left()).length > 0; await delay(500)) {
      if (this.#record.nowMs() < deadlineMs) continue;
      this.#record.problem(`in .staging there is still ${(await left()).join(", ")}`);
      return;
    }
  }

  #outcome() {
    const { problems, awayPeriods, explainedFailures, seenAfterMs, outcomes } = this.#record;
    return {
      samples: this.#samples,
      untilMs: this.#untilMs,
      daemonCount: this.#options.daemonCount,
      served: this.#served,
      acknowledgedChanges: this.#ledger.acknowledgedChanges,
      problems,
      awayPeriods,
      explainedFailures,
      seenAfterMs,
      outcomes,
    };
  }
}
