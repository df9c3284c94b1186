import { readFileSync } from "node:fs";
import type { IsolateProcess } from "./isolate-process.js";

const lookEveryMs = 500;
/** Share of a core that an isolate wants when it is time for another one. */
const highLoad = 0.7;
/** What the others would have to carry when one goes. */
const lowLoad = 0.4;
/** The load has to be low for so long: starting costs more than keeping. */
const shrinkAfterMs = 10_000;

/** How many isolates a worker with `instances: auto` needs: one core's work each, by the processor time that they want. */
export class AutoScale {
  readonly #most: number;
  #lookedMs = 0;
  #highMs = 0;
  #used = new Map<IsolateProcess, number>();

  constructor(options: { most: number }) {
    this.#most = options.most;
  }

  wantedCount(isolates: readonly IsolateProcess[], nowMs: number): number {
    const elapsedMs = nowMs - this.#lookedMs;
    if (elapsedMs < lookEveryMs) return isolates.length;
    this.#lookedMs = nowMs;
    const before = this.#used;
    this.#used = new Map(isolates.map((isolate) => [isolate, processorMs(isolate.pid)]));
    let load = 0;
    for (const [isolate, usedMs] of this.#used) load += Math.max(0, usedMs - (before.get(isolate) ?? usedMs)) / elapsedMs;
    if (load > (isolates.length - 1) * lowLoad) this.#highMs = nowMs;
    if (load >= isolates.length * highLoad) return Math.min(this.#most, isolates.length + 1);
    const canShrink = isolates.length > 1 && nowMs - this.#highMs >= shrinkAfterMs;
    if (!canShrink) return isolates.length;
    this.#highMs = nowMs;
    return isolates.length - 1;
  }
}

/** How long its main thread has run or wanted to; 0 where the kernel does not say. */
function processorMs(pid: number | undefined): number {
  try {
    const [ranNs, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ");
    return (Number(ranNs) + Number(waitedNs)) / 1e6;
  } catch {
    return 0;
  }
}
