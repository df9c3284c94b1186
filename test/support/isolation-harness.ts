import { readdirSync, readlinkSync } from "node:fs";
import { chmod, mkdtemp, readdir } from "node:fs/promises";
import http from "node:http";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Agent, request, setGlobalDispatcher } from "undici";
import { expect } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { spawnedBy } from "./child-processes.js";
import { connect, uploadOf } from "./connect.js";
import { manifestOf, packFiles } from "./pack-files.js";
import { startDaemon, type TestDaemon } from "./start-daemon.js";
import { neighborSource, p99Of, ControlLoad, SteadyLoad } from "./steady-load.js";

/** Maximum time, as documented, from a faulty request to the next response of the faulty worker. */
const recoveryMs = 1000;
/** Time that is added to the limit on a shared machine, because the daemon starts a process before the response. */
const recoveryNoiseMs = 1500;
/**
 * A p99 of a few ms doubles when the system gives time slices to other programs. Such growth, or up to twice the growth of a server
 * beside the daemon, is not caused by the daemon.
 */
const latencyNoiseMs = 50;
/**
 * Replaces `latencyNoiseMs` on a machine with many programs per core. Without any fault, the p99 of a worker grew by 120 ms there.
 */
const crowdedLatencyNoiseMs = 150;
const crowdedPerCore = 2;
/** Number of windows. A slow machine slows the worker in some windows. A faulty worker would slow it in all windows. */
const latencyAttempts = 3;
/** Time to wait for one undisturbed window on a machine with many programs. */
const crowdedPatienceMs = 40_000;
const baselineMs = 1500;
/** Number of newest responses for the baseline. Older noise would hide any slowdown. */
const baselineAnswers = 1000;
/** Time by which `waitUntil` delays the end of an isolate. */
const lingerMs = 30_000;
/** Number of sockets of the test that the daemon has possibly not closed yet. */
const spareDescriptors = 2;

/** The root key. Each test checks that the key appears nowhere. */
export const rootKeyMarker = "root-key-MARKER-7c1f9e55aa";

interface OffenderCode {
  /** Body of its `async fetch(request, env, ctx)` for every path but `/ok`. */
  readonly source: string;
  /** Code before `fetch`, such as imports. */
  readonly head?: string;
  readonly manifest?: string;
}

export interface Offender extends OffenderCode {
  /** Allowed growth of the other worker's p99, in addition to twice its value. Default: 50 ms. */
  readonly latencyNoiseMs?: number;
  readonly name: string;
  /** Allowed results of the bad request: `502 WORKER_CRASHED`, `200 text of the response` or `cut`. */
  readonly expected: string | readonly string[];
  /** Sends the bad request and resolves with its result. Undefined if the bad request is a plain GET. */
  readonly strike?: (url: string) => Promise<string>;
  /** Whether its isolate stays for 30 s after the deletion of the worker, because of `waitUntil`. */
  readonly lingers?: boolean;
}

interface AtRest {
  readonly isolates: number;
  readonly processes: number;
  readonly slots: number;
  readonly descriptors: number;
}

/** A real daemon with a normal worker under steady load. Tests add one faulty worker after the other. */
export class IsolationHarness {
  readonly daemon: TestDaemon;
  readonly client: Client;
  readonly #load: SteadyLoad;
  readonly #control: ControlLoad;
  readonly #neighborPid: string;
  readonly #quiet: number[] = [];
  #descriptorsAtRest = 0;
  /** Number of isolates that can remain for some time after a test. */
  #lingering = 0;
  #uploads = 0;

  private constructor(parts: { daemon: TestDaemon; client: Client; load: SteadyLoad; control: ControlLoad; neighborPid: string }) {
    this.daemon = parts.daemon;
    this.client = parts.client;
    this.#load = parts.load;
    this.#control = parts.control;
    this.#neighborPid = parts.neighborPid;
  }

  static async open(env: Record<string, string> = {}): Promise<IsolationHarness> {
    // Uses a new connection for each request. A connection that is still open at the end therefore belongs to the daemon.
    setGlobalDispatcher(new Agent({ pipelining: 0 }));
    const directory = await mkdtemp(path.join(tmpdir(), "isolation-harness-"));
    // If root runs the tests, isolates run as other users, which must be able to enter this folder.
    await chmod(directory, 0o711);
    const daemon = await startDaemon({ directory, env: { RUNTIME_ROOT_KEY: rootKeyMarker, ...env } });
    const client = connect(daemon.url, rootKeyMarker);
    await upload(client, "neighbor", { "index.js": neighborSource });
    const neighborPid = await textOf(`${daemon.url}/neighbor/pid`);
    const load = new SteadyLoad(`${daemon.url}/neighbor/`);
    const control = await ControlLoad.start();
    const harness = new IsolationHarness({ daemon, client, load, control, neighborPid });
    await delay(baselineMs / 3);
    // Discards the first results, because V8 had not compiled the code yet.
    await load.take();
    await harness.#rest(baselineMs);
    harness.#descriptorsAtRest = (await harness.#atRest()).descriptors;
    return harness;
  }

  /** Uploads the offender, sends its bad request and checks all guarantees for the other worker. */
  check(offender: Offender): Promise<void> {
    return this.checkDuring(() => this.#strike(offender), offender.latencyNoiseMs);
  }

  /** Checks that the other worker, the daemon and its resources are unaffected during and after `act`, which must leave no worker. */
  async checkDuring(act: () => Promise<void>, leastNoiseMs = latencyNoiseMs): Promise<void> {
    let judgement = "";
    const sinceMs = performance.now();
    const hasPatience = (): boolean => isCrowded() && performance.now() - sinceMs < crowdedPatienceMs;
    for (let attempt = 0; attempt < latencyAttempts || hasPatience(); attempt += 1) {
      await this.#rest(0);
      const beforeMs = p99Of(this.#quiet);
      await act();
      const [neighbor, control] = await Promise.all([this.#load.take(), this.#control.take()]);
      expect(neighbor.problems, "of the steady worker").toEqual([]);
      await this.#checkDaemon();
      await this.#expectNothingLeft();
      const p99Ms = p99Of(neighbor.timesMs);
      const machineMs = p99Of(control.timesMs);
      const figures = `p99 ${p99Ms.toFixed(1)} ms of ${neighbor.timesMs.length}, before ${beforeMs.toFixed(1)} ms, of a server beside it ${machineMs.toFixed(1)} ms`;
      if (process.env["FAULTS_SHOW"]) process.stdout.write(`${figures}\n`);
      const noiseMs = Math.max(leastNoiseMs, isCrowded() ? crowdedLatencyNoiseMs : 0);
      if (p99Ms <= Math.max(2 * beforeMs, beforeMs + noiseMs, 2 * machineMs)) return;
      judgement += `\n${figures}`;
      await this.#rest(baselineMs / 3);
    }
    expect.fail(`the steady worker became slow:${judgement}`);
  }

  async close(): Promise<void> {
    try {
      this.#lingering = 0;
      await this.#expectNothingLeft(lingerMs + 10_000);
      expect(await textOf(`${this.daemon.url}/neighbor/pid`)).toBe(this.#neighborPid);
      await Promise.all([this.#load.stop(), this.#control.stop()]);
      expect(await this.daemon.stop()).toBe(0);
      expect(this.daemon.output()).not.toContain(rootKeyMarker);
    } finally {
      await this.daemon.dispose();
    }
  }

  /** Uploads a worker with a unique name. Returns its name and URL. */
  async add(worker: OffenderCode): Promise<{ name: string; url: string }> {
    this.#uploads += 1;
    const name = `offender-${this.#uploads}`;
    await this.replace(name, worker);
    return { name, url: `${this.daemon.url}/${name}` };
  }

  async replace(name: string, worker: OffenderCode): Promise<void> {
    await upload(this.client, name, { "index.js": sourceOf(worker) }, worker.manifest ?? "timeout: 500ms\nmemory: 64mb");
  }

  async #strike(offender: Offender): Promise<void> {
    const { name, url } = await this.add(offender);
    try {
      expect(await textOf(`${url}/ok`)).toBe("ok");
      const outcome = await (offender.strike ?? strikeWithGet)(url);
      const endedMs = performance.now();
      expect([offender.expected].flat(), `outcome: ${outcome}`).toContain(outcome);
      const tookMs = await timeUntilWell(`${url}/ok`, endedMs);
      if (process.env["FAULTS_SHOW"])
        process.stdout.write(`${offender.name}: ${outcome.slice(0, 60)}; back after ${Math.round(tookMs)} ms; `);
      expect(tookMs, "milliseconds until it recovered").toBeLessThan(recoveryMs + recoveryNoiseMs);
    } finally {
      await this.client.workers.remove({ params: { scope: "_", name } });
    }
    if (offender.lingers) this.#lingering += 1;
  }

  /** Continues the load for this time, and uses all results since the last call as the baseline. */
  async #rest(ms: number): Promise<void> {
    if (ms > 0) await delay(ms);
    const [{ timesMs, problems }] = await Promise.all([this.#load.take(), this.#control.take()]);
    expect(problems).toEqual([]);
    this.#quiet.push(...timesMs);
    this.#quiet.splice(0, this.#quiet.length - baselineAnswers);
  }

  async #checkDaemon(): Promise<void> {
    const { process: child, url } = this.daemon;
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    expect((await request(`${url}/api/health/live`)).statusCode).toBe(200);
    expect(await textOf(`${url}/neighbor/pid`)).toBe(this.#neighborPid);
  }

  async #expectNothingLeft(withinMs = 15_000): Promise<void> {
    const endMs = performance.now() + withinMs;
    let left = await this.#left();
    while (Object.keys(left).length > 0 && performance.now() < endMs) {
      await delay(50);
      left = await this.#left();
    }
    expect(left, "leftovers").toEqual({});
  }

  /** Returns the resources that are in use beyond their numbers at rest. */
  async #left(): Promise<Record<string, number>> {
    const { isolates, processes, slots, descriptors } = await this.#atRest();
    const left = {
      processes: processes - isolates - this.#lingering,
      slots: slots - isolates - this.#lingering,
      descriptors: descriptors - this.#descriptorsAtRest - spareDescriptors,
    };
    return Object.fromEntries(Object.entries(left).filter(([, count]) => count > 0));
  }

  async #atRest(): Promise<AtRest> {
    const { isolatePool } = (await this.client.metrics.show({ query: { detail: "totals" } })).daemon;
    const isolates = 1 + (isolatePool?.blank ?? 0);
    const children = spawnedBy(this.daemon.process.pid as number);
    // Finds the folder through the steady worker's isolate, which runs until the end. Other isolates can have ended since the list was
    // read.
    const slots = await readdir(slotsOf(Number(this.#neighborPid)));
    // Each isolate has three descriptors: two outputs and its channel.
    const descriptors = readdirSync(`/proc/${this.daemon.process.pid}/fd`).length - 3 * children.length;
    return { isolates, processes: children.length, slots: slots.length, descriptors };
  }
}

function isCrowded(): boolean {
  return (loadavg()[0] as number) > crowdedPerCore * availableParallelism();
}

function sourceOf({ head = "", source }: Pick<Offender, "source" | "head">): string {
  return `${head}
export default { async fetch(request, env, ctx) {
  if (new URL(request.url).pathname === "/ok") return new Response("ok");
  ${source}
} };`;
}

async function upload(client: Client, name: string, files: Record<string, string>, manifest = ""): Promise<void> {
  const archive = await packFiles({ ...files, "manifest.yaml": manifestOf(name, "1.0.0", manifest) });
  await client.workers.upload({ file: uploadOf(`${name}.tgz`, archive) });
}

async function textOf(url: string): Promise<string> {
  return (await request(url)).body.text();
}

/** Sends a GET on a new connection. Resolves with `502 CODE`, `200 text`, or `cut` if the response is truncated. */
export function strikeWithGet(url: string): Promise<string> {
  return new Promise((resolve) => {
    const asked = http.get(`${url}/bad`, { agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => (text += text.length < 1000 ? piece : ""));
      response.once("end", () => resolve(outcomeOf(response.statusCode ?? 0, text)));
      response.once("error", () => resolve("cut"));
    });
    asked.once("error", (error) => resolve(`no response: ${error.message}`));
  });
}

export function outcomeOf(status: number, text: string): string {
  const code = status >= 400 ? /"code":"(\w+)"/.exec(text)?.[1] : undefined;
  expect(text).not.toContain(rootKeyMarker);
  return `${status} ${code ?? text.slice(0, 200)}`;
}

async function timeUntilWell(url: string, sinceMs: number): Promise<number> {
  const endMs = performance.now() + 20_000;
  while (performance.now() < endMs) {
    const answer = await request(url);
    const text = await answer.body.text();
    if (answer.statusCode === 200) {
      expect(text).toBe("ok");
      break;
    }
    expect([502, 503, 504], text).toContain(answer.statusCode);
    await delay(10);
  }
  return performance.now() - sinceMs;
}

/** Returns the folder of all sandbox folders: isolates run in theirs. */
function slotsOf(isolatePid: number): string {
  return path.dirname(readlinkSync(`/proc/${isolatePid}/cwd`));
}
