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
import { neighbourSource, p99Of, ControlLoad, SteadyLoad } from "./steady-load.js";

/** What is promised: the offender answers again this long after its bad request has ended. */
const recoveryMs = 1000;
/** What a machine that others share may add to it: a process is started meanwhile. */
const recoveryNoiseMs = 1500;
/**
 * A p99 of few milliseconds doubles when the system gives a time slice or two to somebody else: this much says nothing about the daemon.
 * Nor does what a server beside the daemon suffers at the same moment; it may be half as much there, where there is one process less on the way.
 */
const latencyNoiseMs = 50;
/** The same where so many programs want each core: there even a worker that does nothing has seen a p99 of 120 ms more than before. */
const crowdedLatencyNoiseMs = 150;
const crowdedPerCore = 2;
/** A neighbour that is slow in one window of several was disturbed by the machine; in all of them, by the offender. */
const latencyAttempts = 3;
/** A crowded machine may disturb every window of a few; it has so long to come to one that it leaves alone. */
const crowdedPatienceMs = 40_000;
const baselineMs = 1500;
/** So many of the newest answers are what "before" means: noise of long ago would excuse anything. */
const baselineAnswers = 1000;
/** How long `waitUntil` holds up the end of an isolate. */
const lingerMs = 30_000;
/** Sockets of ours that the daemon may be about to close. */
const spareDescriptors = 2;

/** The key that must be found nowhere. */
export const rootKeyMarker = "root-key-MARKER-7c1f9e55aa";

interface OffenderCode {
  /** Body of its `async fetch(request, env, ctx)` for every path but `/ok`. */
  readonly source: string;
  /** What stands before that, such as imports. */
  readonly head?: string;
  readonly manifest?: string;
}

export interface Offender extends OffenderCode {
  /** What the neighbour's p99 may grow by, beside doubling; 50 ms by default. */
  readonly latencyNoiseMs?: number;
  readonly name: string;
  /** What the bad request comes to, one of these: `502 WORKER_CRASHED`, `200 text of the answer`, `cut`. */
  readonly expected: string | readonly string[];
  /** How the bad request is made, when a plain GET would not do; tells what came of it. */
  readonly strike?: (url: string) => Promise<string>;
  /** It has asked to be waited for: its isolate stays for half a minute when the worker is deleted. */
  readonly lingers?: boolean;
}

interface AtRest {
  readonly isolates: number;
  readonly processes: number;
  readonly slots: number;
  readonly descriptors: number;
}

/** A real daemon with an innocent worker under steady load, for one offender after the other. */
export class IsolationHarness {
  readonly daemon: TestDaemon;
  readonly client: Client;
  readonly #load: SteadyLoad;
  readonly #control: ControlLoad;
  readonly #neighbourPid: string;
  readonly #quiet: number[] = [];
  #descriptorsAtRest = 0;
  /** Isolates that may stay a while. */
  #lingering = 0;
  #uploads = 0;

  private constructor(parts: { daemon: TestDaemon; client: Client; load: SteadyLoad; control: ControlLoad; neighbourPid: string }) {
    this.daemon = parts.daemon;
    this.client = parts.client;
    this.#load = parts.load;
    this.#control = parts.control;
    this.#neighbourPid = parts.neighbourPid;
  }

  static async open(env: Record<string, string> = {}): Promise<IsolationHarness> {
    // No connection is kept: what is left open at the end is then the daemon's fault.
    setGlobalDispatcher(new Agent({ pipelining: 0 }));
    const directory = await mkdtemp(path.join(tmpdir(), "hostile-house-"));
    // As root the isolates run as other users, who have to come past this folder.
    await chmod(directory, 0o711);
    const daemon = await startDaemon({ directory, env: { RUNTIME_ROOT_KEY: rootKeyMarker, ...env } });
    const client = connect(daemon.url, rootKeyMarker);
    await upload(client, "neighbour", { "index.js": neighbourSource });
    const neighbourPid = await textOf(`${daemon.url}/neighbour/pid`);
    const load = new SteadyLoad(`${daemon.url}/neighbour/`);
    const control = await ControlLoad.start();
    const house = new IsolationHarness({ daemon, client, load, control, neighbourPid });
    await delay(baselineMs / 3);
    // The first ones found cold code.
    await load.take();
    await house.#rest(baselineMs);
    house.#descriptorsAtRest = (await house.#atRest()).descriptors;
    return house;
  }

  /** Uploads the offender, lets it strike, and checks all that is promised to everybody else. */
  endure(offender: Offender): Promise<void> {
    return this.amid(() => this.#strike(offender), offender.latencyNoiseMs);
  }

  /** Checks that the neighbour, the daemon and what it holds are as they were while and after something happens; `act` leaves no worker behind. */
  async amid(act: () => Promise<void>, leastNoiseMs = latencyNoiseMs): Promise<void> {
    let judgement = "";
    const sinceMs = performance.now();
    const hasPatience = (): boolean => isCrowded() && performance.now() - sinceMs < crowdedPatienceMs;
    for (let attempt = 0; attempt < latencyAttempts || hasPatience(); attempt += 1) {
      await this.#rest(0);
      const beforeMs = p99Of(this.#quiet);
      await act();
      const [neighbour, control] = await Promise.all([this.#load.take(), this.#control.take()]);
      expect(neighbour.problems, "of the neighbour").toEqual([]);
      await this.#checkDaemon();
      await this.#expectNothingLeft();
      const p99Ms = p99Of(neighbour.timesMs);
      const machineMs = p99Of(control.timesMs);
      const figures = `p99 ${p99Ms.toFixed(1)} ms of ${neighbour.timesMs.length}, before ${beforeMs.toFixed(1)} ms, of a server beside it ${machineMs.toFixed(1)} ms`;
      if (process.env["FAULTS_SHOW"]) process.stdout.write(`${figures}\n`);
      const noiseMs = Math.max(leastNoiseMs, isCrowded() ? crowdedLatencyNoiseMs : 0);
      if (p99Ms <= Math.max(2 * beforeMs, beforeMs + noiseMs, 2 * machineMs)) return;
      judgement += `\n${figures}`;
      await this.#rest(baselineMs / 3);
    }
    expect.fail(`the neighbour became slow:${judgement}`);
  }

  async close(): Promise<void> {
    try {
      this.#lingering = 0;
      await this.#expectNothingLeft(lingerMs + 10_000);
      expect(await textOf(`${this.daemon.url}/neighbour/pid`)).toBe(this.#neighbourPid);
      await Promise.all([this.#load.stop(), this.#control.stop()]);
      expect(await this.daemon.stop()).toBe(0);
      expect(this.daemon.output()).not.toContain(rootKeyMarker);
    } finally {
      await this.daemon.dispose();
    }
  }

  /** Uploads a worker under a name of its own; answers with its name and where it answers. */
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
      expect([offender.expected].flat(), `it came to ${outcome}`).toContain(outcome);
      const tookMs = await timeUntilWell(`${url}/ok`, endedMs);
      if (process.env["FAULTS_SHOW"])
        process.stdout.write(`${offender.name}: ${outcome.slice(0, 60)}; back after ${Math.round(tookMs)} ms; `);
      expect(tookMs, "milliseconds until it was back").toBeLessThan(recoveryMs + recoveryNoiseMs);
    } finally {
      await this.client.workers.remove({ params: { scope: "_", name } });
    }
    if (offender.lingers) this.#lingering += 1;
  }

  /** Lets the load go on for a while, and counts what came since the last time as quiet. */
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
    expect(await textOf(`${url}/neighbour/pid`)).toBe(this.#neighbourPid);
  }

  async #expectNothingLeft(withinMs = 15_000): Promise<void> {
    const endMs = performance.now() + withinMs;
    let left = await this.#left();
    while (Object.keys(left).length > 0 && performance.now() < endMs) {
      await delay(50);
      left = await this.#left();
    }
    expect(left, "what stays behind").toEqual({});
  }

  /** What there is more of than there should be. */
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
    // The neighbour's isolate lives as long as the house; any other may have ended since it was listed.
    const slots = await readdir(slotsOf(Number(this.#neighbourPid)));
    // Each isolate has three: two outputs and its channel.
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

/** How a GET ends, on a connection of its own: `502 CODE`, `200 text`, or `cut` when the answer is not whole. */
export function strikeWithGet(url: string): Promise<string> {
  return new Promise((resolve) => {
    const asked = http.get(`${url}/bad`, { agent: false }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (piece: string) => (text += text.length < 1000 ? piece : ""));
      response.once("end", () => resolve(outcomeOf(response.statusCode ?? 0, text)));
      response.once("error", () => resolve("cut"));
    });
    asked.once("error", (error) => resolve(`no answer: ${error.message}`));
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

/** The folder with all slots: isolates work in theirs. */
function slotsOf(isolatePid: number): string {
  return path.dirname(readlinkSync(`/proc/${isolatePid}/cwd`));
}
