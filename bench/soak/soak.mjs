import { readdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { startSteadyLoad } from "../support/start-steady-load.mjs";
import { workerOf } from "../support/worker-source.mjs";
import { createBadClients } from "./bad-clients.mjs";
import { offenderNames, offenders } from "./offenders.mjs";
import { createOperations } from "./operations.mjs";
import { sampleProcesses } from "./sampler.mjs";

const inside = new URL("inside-daemon.mjs", import.meta.url).href;
const sampleEveryMs = 2_000;
const beforeMs = 15_000;
/** Time after all faults. Longer than the `ttl` of the faulty workers' isolates and the time limits of the clients. */
const afterMs = 40_000;
/** Number of faults that occur at the same time. */
const troubleLanes = 3;
const pauseOfLaneMs = 300;
/** Time limit of a fault. The slowest fault is an upload on a busy machine. */
const troubleTimeoutMs = 90_000;
/** Time limit of a response. Longer than the time limits of the faulty workers, also on a busy machine. */
const answerTimeoutMs = 20_000;
/** Time for which a client reads a body before the client disconnects. */
const bodyTimeMs = 1_500;

/** Runs one daemon under steady load, with faults for a certain time. Samples values from the first to the last second. */
export class Soak {
  #stage;
  #troubleMs;
  #startedAtMs = 0;
  #samples = [];
  #played = {};
  #problems = [];
  #neighbour = { requests: 0, failures: 0 };
  #lastSecond = { requests: 0, p99Ms: 0 };
  #inside = { heapBytes: 0, lagMs: 0 };

  constructor(stage, { troubleMs }) {
    this.#stage = stage;
    this.#troubleMs = troubleMs;
  }

  async run() {
    const daemon = await this.#startDaemon();
    const sampling = setInterval(() => this.#sample(daemon), sampleEveryMs);
    try {
      await delay(beforeMs);
      const troubleFromMs = this.#elapsedMs();
      await this.#makeTrouble(daemon);
      const troubleToMs = this.#elapsedMs();
      await delay(afterMs);
      if (daemon.child.exitCode !== null || daemon.child.signalCode !== null) this.#problems.push("the daemon ended");
      await this.#lookForLeftovers(daemon);
      return {
        samples: this.#samples,
        troubleFromMs,
        troubleToMs,
        troubleSeconds: { before: beforeMs / 1000, after: afterMs / 1000 },
        neighbour: this.#neighbour,
        played: Object.fromEntries(Object.entries(this.#played).toSorted(([left], [right]) => left.localeCompare(right))),
        problems: this.#problems,
      };
    } finally {
      clearInterval(sampling);
    }
  }

  async #startDaemon() {
    const modules = ["payload.js"];
    const workers = {
      neighbour: await workerOf("ok.js"),
      echo: await workerOf("echo.js"),
      html: await workerOf("html.js", { modules }),
      changing: await workerOf("ok.js"),
      site: { files: { "index.html": "<!doctype html><title>site</title>" } },
      ...offenders(),
    };
    const daemon = await startDaemon(this.#stage, { workers, nodeFlags: ["--import", inside] });
    daemon.child.stdout.on("data", (chunk) => this.#readInside(String(chunk)));
    for (const name of ["neighbour", "html", "site", "changing"]) await expectAnswer(`${daemon.url}/${name}/`);
    this.#startedAtMs = performance.now();
    const steady = { method: "GET", bodyBytes: 0, connections: 2, pauseMs: 20, mayFail: false };
    this.#load({ ...steady, url: `${daemon.url}/neighbour/`, connections: 4, pauseMs: 10 }, (second) => {
      this.#lastSecond = second;
      this.#neighbour.requests += second.requests;
      this.#neighbour.failures += second.failures;
    });
    this.#load({ ...steady, url: `${daemon.url}/echo/`, method: "POST", bodyBytes: 4096 });
    this.#load({ ...steady, url: `${daemon.url}/html/` });
    this.#load({ ...steady, url: `${daemon.url}/site/` });
    // The worker is deleted and disabled in between, so status 404 is allowed.
    this.#load({ ...steady, url: `${daemon.url}/changing/`, mayFail: true });
    return daemon;
  }

  #load(plan, onSecond = () => undefined) {
    startSteadyLoad(this.#stage, plan, { onSecond, onProblem: (problem) => this.#problems.push(problem) });
  }

  #readInside(text) {
    const lines = text.split("\n").filter((line) => line.startsWith("inside {") && line.endsWith("}"));
    if (lines.length > 0) this.#inside = JSON.parse(lines.at(-1).slice("inside ".length));
  }

  #sample(daemon) {
    if (daemon.child.exitCode !== null || daemon.child.signalCode !== null) return;
    if (this.#neighbour.requests === 0) return;
    this.#samples.push({
      timeMs: this.#elapsedMs(),
      ...sampleProcesses(daemon.pid),
      heapMb: this.#inside.heapBytes / 1024 ** 2,
      lagMs: this.#inside.lagMs,
      perSecond: this.#lastSecond.requests,
      p99Ms: this.#lastSecond.p99Ms,
    });
  }

  /** Causes each kind of fault in turn, several at a time, until the time is over. */
  async #makeTrouble(daemon) {
    const kinds = { ...offences(daemon), ...createBadClients((worker) => `${daemon.url}/${worker}/`) };
    const operations = await createOperations(daemon, await this.#stage.temporaryDirectory());
    const endMs = performance.now() + this.#troubleMs;
    const lanes = Array.from({ length: troubleLanes }, (_, lane) => this.#playAll(Object.entries(kinds), { startAt: lane * 9, endMs }));
    // The operations run one after the other, because each operation must succeed and must not conflict with another.
    await Promise.all([...lanes, this.#playAll(Object.entries(operations), { startAt: 0, endMs, mustSucceed: true })]);
  }

  async #playAll(kinds, { startAt, endMs, mustSucceed = false }) {
    for (let turn = startAt; performance.now() < endMs; turn += 1) {
      const [title, action] = kinds[turn % kinds.length];
      const hanging = delay(troubleTimeoutMs, undefined, { ref: false }).then(() => Promise.reject(new Error("it hangs")));
      const outcome = await Promise.race([action(), hanging]).catch((error) => error);
      const isFailure = outcome instanceof Error;
      if (isFailure && mustSucceed) this.#problems.push(`${title}: ${outcome.message}`);
      this.#count(title, isFailure ? outcome.message : (outcome ?? "done"));
      await delay(pauseOfLaneMs);
    }
  }

  #count(title, outcome) {
    const outcomes = (this.#played[title] ??= {});
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }

  /** Checks that uploads leave no files behind. */
  async #lookForLeftovers(daemon) {
    for (const folder of ["state/spool", "workers/.staging"]) {
      const names = await readdir(path.join(daemon.directory, folder)).catch(() => []);
      if (names.length > 0) this.#problems.push(`${folder} still holds ${names.join(", ")}`);
    }
  }

  #elapsedMs() {
    return performance.now() - this.#startedAtMs;
  }
}

/** Returns a request to each faulty worker. Every outcome is allowed, because only the other workers must not be affected. */
function offences(daemon) {
  return Object.fromEntries(
    offenderNames.map((name) => [
      name,
      async () => {
        const leaving = new AbortController();
        const patience = setTimeout(() => leaving.abort(new Error("no answer in time")), answerTimeoutMs);
        const response = await fetch(`${daemon.url}/${name}/`, { signal: leaving.signal });
        clearTimeout(patience);
        setTimeout(() => leaving.abort(), bodyTimeMs).unref();
        return await response.text().then(
          () => String(response.status),
          () => `${response.status}, then cut`,
        );
      },
    ]),
  );
}
