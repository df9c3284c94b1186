import type { Log } from "../log/log.js";
import type { ServiceManager } from "./service-manager.js";
import { watch } from "./watch.js";

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
