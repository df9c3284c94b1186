import type { WorkerMeter } from "./worker-meter.js";

/** What runs of an app at this moment. A static site has no isolates. */
export interface AppLife {
  readonly kind: "static" | "module";
  /** Isolates that take requests, that are started, and that finish what they have. */
  readonly running: number;
  readonly starting: number;
  readonly draining: number;
  /** Requests that wait for an isolate. */
  readonly queued: number;
  /** Web sockets that are open. */
  readonly openSockets: number;
  /** Process ids of the isolates that have the app. */
  readonly pids: readonly number[];
}

/** A worker's version in numbers; `life` is undefined when nothing of it was ever opened. */
export interface WorkerNumbers {
  readonly meter: WorkerMeter;
  readonly life: AppLife | undefined;
}

/** A version and what still drains of the code that it replaced, as one. */
export function lifeOf(apps: readonly { readonly life: AppLife }[]): AppLife | undefined {
  const lives = apps.map(({ life }) => life);
  const [first, ...others] = lives;
  return first && others.reduce(together, first);
}

function together(one: AppLife, other: AppLife): AppLife {
  return {
    kind: one.kind,
    running: one.running + other.running,
    starting: one.starting + other.starting,
    draining: one.draining + other.draining,
    queued: one.queued + other.queued,
    openSockets: one.openSockets + other.openSockets,
    pids: [...one.pids, ...other.pids],
  };
}
