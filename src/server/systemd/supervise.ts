import type { Log } from "../log/log.js";
import type { ServiceManager } from "./notify.js";

/** Signs of life for each period: one that comes late does no harm yet. */
const checksPerPeriod = 4;

/** What is done to a daemon from outside while it serves. */
interface SupervisedDaemon {
  /** Rejects when it does not live, waits as long as it cannot be told. */
  checkLife(): Promise<void>;
  /** Reads again what may change. */
  reload(): Promise<void>;
  /** One line about what it does. */
  describe(): string;
}

interface Options {
  readonly daemon: SupervisedDaemon;
  readonly manager: ServiceManager;
  readonly level: { readonly current: string | undefined; set(level: string): void };
  readonly config: {
    readonly logLevel: string;
    readonly prettyLog: boolean;
    readonly service: { readonly watchdogMs: number | undefined };
  };
  readonly log: Log;
}

/**
 * Follows the signals of a service manager and of operators from now on: SIGHUP reloads, unless it comes from a terminal that closes;
 * SIGUSR2 turns the log's `debug` on and off. `begin`, once the daemon serves, tells the manager so and has it watched; `end`, when it
 * stops, leaves it watched and ends the rest.
 */
export function supervise({ daemon, manager, level, config, log }: Options): { begin(): void; end(): void } {
  let reloading = Promise.resolve();
  let isServing = false;
  const reload = async () => {
    manager.reloading();
    level.set(config.logLevel);
    await daemon.reload();
    if (isServing) manager.ready(daemon.describe());
  };
  const onHangUp = () => {
    if (isServing) reloading = reloading.then(reload);
    else log.warn("a daemon that does not serve has nothing to reload");
  };
  if (!config.prettyLog) process.on("SIGHUP", onHangUp);
  process.on("SIGUSR2", () => {
    level.set(level.current === "debug" ? config.logLevel : "debug");
    log.warn({ level: level.current }, "the level of the log was changed");
  });
  const begin = () => {
    isServing = true;
    manager.ready(daemon.describe());
    const { watchdogMs } = config.service;
    if (watchdogMs === undefined) return;
    const feed = () => manager.alive(daemon.describe());
    watch({ periodMs: watchdogMs, check: () => daemon.checkLife(), feed, log });
  };
  return { begin, end: () => void (isServing = false) };
}

interface WatchOptions {
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
function watch({ periodMs, check, feed, log }: WatchOptions): void {
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
