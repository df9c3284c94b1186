import { cp } from "node:fs/promises";
import { freemem } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { rssBytes } from "../support/memory.mjs";
import { cpuMs, machineCpuMs } from "../support/processor-time.mjs";
import { Sqld } from "../support/sqld.mjs";
import { DaemonProcess } from "./daemon-processes.mjs";
import { startRegistry } from "../support/registry.mjs";
import { measureRealDaemon } from "./real-daemon.mjs";
import { seedPackages, togglePackage } from "./seed-packages.mjs";
import { machineMs, packageNameOf, SimulatedDaemon } from "./simulated-daemon.mjs";

/** Number of daemons that fetch all rows at the same time. All others start with a copy of a complete replica, which saves minutes. */
const fetchingDaemons = 10;
/** Interval at which `#untilAllPoll` counts requests, and longest time until all daemons must have a change. */
const quietMs = 3_000;
const settleMs = 20_000;
/** Share of the daemons that must request changes before a measurement, and longest wait for them. A request takes longer than 1 s at times. */
const pollingShare = 0.9;
const pollLimitMs = 60_000;
/** Free memory of the machine below which no further daemon starts. */
const leastFreeBytes = 2 * 1024 ** 3;

function report(progress) {
  process.stderr.write(`${progress}\n`);
}

/** Many simulated daemons with one primary. */
export class Simulation {
  #stage;
  #options;
  #sqld;
  #writer;
  #processes = [];
  #template;
  #nextPackage = 0;
  #rejectionKinds = new Set();

  constructor(stage, options) {
    this.#stage = stage;
    this.#options = options;
  }

  /** Yields the outcome after each number of daemons. */
  async *run() {
    const { packages, daemonCounts, rates, processes } = this.#options;
    this.#sqld = await Sqld.start(this.#stage);
    this.#writer = await SimulatedDaemon.open(await this.#stage.temporaryDirectory(), this.#sqld.url);
    const rowBytes = await seedPackages(this.#writer, packages);
    report(`the primary has ${packages} packages`);
    const registry = await startRegistry(this.#stage);
    const real = await measureRealDaemon(this.#stage, { primaryUrl: this.#sqld.url, registryUrl: registry.url });
    report("a real daemon was measured");
    const alone = await this.#measureAlone();
    this.#processes = Array.from({ length: processes }, () => new DaemonProcess(this.#stage, this.#sqld.url));
    const together = [];
    const steps = [];
    let daemonCount = 0;
    for (const wanted of daemonCounts) {
      const opened = await this.#openDaemons(daemonCount, wanted);
      if (daemonCount === 0) together.push(...opened.slice(0, fetchingDaemons));
      daemonCount += opened.length;
      report(`${daemonCount} daemons are open`);
      // The copied replicas are written to the disk first. Otherwise they delay the transactions of sqld.
      await this.#stage.run("sync", []);
      await this.#untilAllPoll(daemonCount);
      for (const rate of [0, ...rates]) {
        steps.push(await this.#measure(daemonCount, rate));
        report(`${daemonCount} daemons, ${rate} changes a second`);
      }
      const memory = await this.#memoryOfDaemons(daemonCount);
      for (const step of steps) if (step.daemonCount === daemonCount) step.memory = memory;
      yield { rowBytes, real, alone, together, steps };
      if (daemonCount < wanted) break;
    }
  }

  /** Measures one daemon in a process of its own: first with an empty disk, then with its replica. Its replica becomes the template. */
  async #measureAlone() {
    const home = await this.#stage.temporaryDirectory();
    const first = new DaemonProcess(this.#stage, this.#sqld.url);
    const empty = await first.memory();
    const { openMs: fetchMs } = await first.open(home);
    await first.end();
    const second = new DaemonProcess(this.#stage, this.#sqld.url);
    const { openMs } = await second.open(home);
    await togglePackage(this.#writer, this.#takePackage());
    await delay(quietMs);
    const memory = await second.memory();
    await second.end();
    this.#template = path.join(home, "replica");
    return { fetchMs, openMs, empty, memory };
  }

  /** Opens further daemons. The first ones start at the same time with an empty disk. */
  async #openDaemons(before, wanted) {
    const indexes = Array.from({ length: wanted - before }, (_, index) => before + index);
    const fetching = indexes.filter((index) => index < fetchingDaemons);
    const opened = await Promise.all(fetching.map((index) => this.#openDaemon(index)));
    const lanes = this.#processes.map(async (_, lane) => {
      for (const index of indexes) {
        if (index < fetchingDaemons || index % this.#processes.length !== lane || freemem() < leastFreeBytes) continue;
        opened.push(await this.#openDaemon(index));
      }
    });
    await Promise.all(lanes);
    return opened;
  }

  async #openDaemon(index) {
    const home = await this.#stage.temporaryDirectory(this.#options.replicas);
    if (index >= fetchingDaemons) await cp(this.#template, path.join(home, "replica"), { recursive: true });
    return await this.#processes[index % this.#processes.length].open(home);
  }

  /** Waits until the daemons send on average `pollingShare` requests per second each, at most for `pollLimitMs`. */
  async #untilAllPoll(daemonCount) {
    let before = await this.#counters();
    for (const deadlineMs = machineMs() + pollLimitMs; machineMs() < deadlineMs;) {
      await delay(quietMs);
      const after = await this.#counters();
      const perSecond = ((after.requests - before.requests) / (after.atMs - before.atMs)) * 1000;
      if (perSecond >= daemonCount * pollingShare) return;
      before = after;
    }
  }

  /** Changes packages at a rate. Measures the load meanwhile, and the time until each daemon has each change. */
  async #measure(daemonCount, rate) {
    const { seconds } = this.#options;
    await this.#readAll();
    const before = await this.#counters();
    const changes = rate === 0 ? [] : this.#changeFor(seconds, rate);
    await delay(seconds * 1000);
    const after = await this.#counters();
    const outcomes = await Promise.all(changes);
    const acknowledged = outcomes.filter(({ atMs }) => atMs !== undefined);
    const { delaysMs, isComplete } = await this.#delays(acknowledged, daemonCount, [...before.seen, ...after.seen]);
    const elapsedMs = after.atMs - before.atMs;
    const share = (field) => (after[field] - before[field]) / elapsedMs;
    return {
      daemonCount,
      rate,
      requestsPerSecond: share("requests") * 1000,
      syncsPerSecond: share("syncs") * 1000,
      sqldShare: share("sqldCpuMs"),
      daemonShare: share("daemonCpuMs") / daemonCount,
      otherShare: share("machineCpuMs") - share("sqldCpuMs") - share("daemonCpuMs"),
      sqldRssBytes: rssBytes(this.#sqld.pid),
      changes: acknowledged.length,
      failures: outcomes.length - acknowledged.length,
      isComplete,
      delaysMs,
    };
  }

  /** Begins changes of different packages at a rate. Returns the promise of each change, which never rejects. */
  #changeFor(seconds, rate) {
    const count = Math.max(1, Math.round(seconds * rate));
    return Array.from({ length: count }, async (_, index) => {
      const packageIndex = this.#takePackage();
      await delay((index / rate) * 1000);
      const name = packageNameOf(packageIndex);
      return await togglePackage(this.#writer, packageIndex).then(
        () => ({ name, atMs: machineMs() }),
        (error) => {
          this.#reportRejection(name, error);
          return { name };
        },
      );
    });
  }

  /** Reports the first rejected change of each kind. Changes of one kind have the same code and the same reason, apart from numbers. */
  #reportRejection(name, { code, message }) {
    const kind = `${code} ${message.replaceAll(/\d+/g, "N")}`;
    if (!this.#rejectionKinds.has(kind)) report(`the change of ${name} was rejected: ${code}: ${message}`);
    this.#rejectionKinds.add(kind);
  }

  #takePackage() {
    this.#nextPackage = (this.#nextPackage + 1) % this.#options.packages;
    return this.#nextPackage;
  }

  /** Returns the times from the acknowledgement of each change until each daemon had it. A daemon can have it before the writer. */
  async #delays(acknowledged, daemonCount, alreadySeen) {
    const ackMs = new Map(acknowledged.map(({ name, atMs }) => [name, atMs]));
    const isWanted = ({ name }) => ackMs.has(name);
    const seen = alreadySeen.filter(isWanted);
    const expected = acknowledged.length * daemonCount;
    for (const deadlineMs = machineMs() + settleMs; seen.length < expected && machineMs() < deadlineMs; await delay(200)) {
      seen.push(...(await this.#readAll()).flatMap((read) => read.seen).filter(isWanted));
    }
    return { delaysMs: seen.map(({ name, atMs }) => Math.max(0, atMs - ackMs.get(name))), isComplete: seen.length >= expected };
  }

  async #readAll() {
    return await Promise.all(this.#processes.map((each) => each.call("read")));
  }

  async #counters() {
    const reads = await this.#readAll();
    const sumOf = (field) => reads.reduce((sum, read) => sum + read[field], 0);
    return {
      atMs: machineMs(),
      requests: sumOf("requests"),
      syncs: sumOf("syncs"),
      seen: reads.flatMap(({ seen }) => seen),
      sqldCpuMs: cpuMs(this.#sqld.pid),
      daemonCpuMs: this.#processes.reduce((sum, each) => sum + each.cpuMs(), 0),
      machineCpuMs: machineCpuMs(),
    };
  }

  /** Returns the memory per daemon in bytes: the processes divided by their daemons. */
  async #memoryOfDaemons(daemonCount) {
    const memories = await Promise.all(this.#processes.map((each) => each.memory()));
    const perDaemon = (field) => memories.reduce((sum, memory) => sum + memory[field], 0) / daemonCount;
    return { rssBytes: perDaemon("rssBytes"), heapBytes: perDaemon("heapBytes"), syncerBytes: perDaemon("syncerBytes") };
  }
}
