import type { Log } from "../log/log.js";

/** Signs of life for each period: one that comes late does no harm yet. */
const checksPerPeriod = 4;

export interface WatchOptions {
  /** Within it a sign of life has to come. */
  readonly periodMs: number;
  /** Rejects when the daemon does not live, and waits as long as it cannot be told. */
  readonly check: () => Promise<void>;
  readonly feed: () => void;
  readonly log: Log;
}

/**
 * Gives the sign of life that the service manager's watchdog waits for, from now to the end of the process, but only after each check
 * that went well. One check at a time: while one hangs there is no sign, and the manager restarts the service.
 */
export function watch({ periodMs, check, feed, log }: WatchOptions): void {
  let state: "idle" | "checking" | "hanging" = "idle";
  const turn = async () => {
    if (state === "checking") {
      state = "hanging";
      log.error("the daemon's check of itself does not come back; the service manager gets no sign of life");
    }
    if (state === "hanging") return;
    state = "checking";
    try {
      await check();
      feed();
    } catch (error) {
      log.error({ err: error }, "the daemon's check of itself failed; the service manager gets no sign of life");
    }
    state = "idle";
  };
  setInterval(() => void turn(), periodMs / checksPerPeriod).unref();
  void turn();
}
