import type { Log } from "../log/log.js";
import type { ServiceManager } from "./notify.js";

/** Number of notifications within the period of the watchdog. A single late notification then has no effect. */
const checksPerPeriod = 4;

/** The operations of a running daemon that signals and systemd trigger. */
interface SupervisedDaemon {
  /**
   * Checks the daemon. Rejects if the daemon does not work. The check has no time limit: while it hangs, systemd receives no notification
   * and restarts the service.
   */
  checkLife(): Promise<void>;
  /** Reloads the configuration that can change at run time. */
  reload(): Promise<void>;
  /** Returns one line of text for `systemctl status`. */
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
 * Handles signals. SIGHUP reloads, unless stdout is a terminal. SIGUSR2 switches the log level debug on and off. `begin` reports readiness
 * and starts the watchdog. After `end`, SIGHUP has no effect, but the watchdog continues.
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
    else log.warn("the reload was ignored, because the daemon is starting or stopping: send SIGHUP again when the daemon serves");
  };
  if (!config.prettyLog) process.on("SIGHUP", onHangUp);
  process.on("SIGUSR2", () => {
    level.set(level.current === "debug" ? config.logLevel : "debug");
    log.warn({ level: level.current }, "SIGUSR2 changed the log level");
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
  /** Period of the watchdog of systemd in ms. At least one notification must arrive within each period. */
  readonly periodMs: number;
  /** Checks the daemon. Rejects if the daemon does not work. There is no timeout. */
  readonly check: () => Promise<void>;
  readonly feed: () => void;
  readonly log: Log;
}

/**
 * Notifies the watchdog of systemd after each successful check, until the process exits. Only one check runs at a time. If a check hangs,
 * systemd receives no notification and restarts the service.
 */
function watch({ periodMs, check, feed, log }: WatchOptions): void {
  let state: "idle" | "checking" | "hanging" = "idle";
  const turn = async () => {
    if (state === "checking") {
      state = "hanging";
      log.error("the daemon's self-check does not end, so systemd receives no notification and restarts the daemon");
    }
    if (state === "hanging") return;
    state = "checking";
    try {
      await check();
      feed();
    } catch (error) {
      log.error({ err: error }, "the daemon's self-check failed; if it keeps failing, systemd restarts the daemon");
    }
    state = "idle";
  };
  setInterval(() => void turn(), periodMs / checksPerPeriod).unref();
  void turn();
}
