import type { Log } from "../log/log.js";
import type { ServiceManager } from "./notify.js";

/** Notifications per period, so that a late one has no effect. */
const checksPerPeriod = 4;

/** The operations of a running daemon that signals and the service manager trigger. */
interface SupervisedDaemon {
  /** Checks the daemon; rejects when it does not work. Has no timeout: while a check hangs, systemd's watchdog gets no notification. */
  checkLife(): Promise<void>;
  /** Reloads the configuration that can change at run time. */
  reload(): Promise<void>;
  /** Returns one line of status text. */
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
 * Handles signals from now on: SIGHUP reloads, unless a closing terminal sent it; SIGUSR2 toggles the log level debug. `begin` reports
 * readiness and starts the watchdog, `end` keeps the watchdog and stops the rest.
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
  /** A notification must arrive within this time. */
  readonly periodMs: number;
  /** Checks the daemon; rejects when it does not work. Has no timeout. */
  readonly check: () => Promise<void>;
  readonly feed: () => void;
  readonly log: Log;
}

/**
 * Notifies the watchdog of the service manager after each successful check, until the process ends. One check at a time: while one hangs,
 * no notification is sent and the manager restarts the service.
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
