/** The values of the environment variables that systemd sets for a service. */
export interface ServiceEnvironment {
  /**
   * File descriptors of the listening sockets that the process inherits. If there are any, the daemon ignores the configured host and port.
   */
  readonly listenFds: readonly number[];
  /** Address of the socket on which systemd receives notifications: a path, or `@` and the name of an abstract socket. */
  readonly notifySocket: string | undefined;
  /** Time in ms after which systemd restarts the service if the service sends no notification. */
  readonly watchdogMs: number | undefined;
}

/**
 * Environment variables that systemd sets only for this process. The daemon removes these variables, so that child processes, workers and
 * plugins do not inherit them.
 */
export const serviceVariables: readonly string[] = [
  "NOTIFY_SOCKET",
  "WATCHDOG_USEC",
  "WATCHDOG_PID",
  "LISTEN_FDS",
  "LISTEN_PID",
  "LISTEN_PIDFDID",
  "LISTEN_FDNAMES",
];

const firstListenFd = 3;
const mostListenFds = 64;

/** Reads the environment variables that systemd set for the process with this id. Ignores invalid numbers. */
export function readServiceEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { pid }: { pid: number },
): ServiceEnvironment {
  const isOurs = (variable: string) => environment[variable] === String(pid);
  const listenCount = isOurs("LISTEN_PID") ? Math.min(mostListenFds, wholeNumber(environment["LISTEN_FDS"])) : 0;
  // Accepts a missing WATCHDOG_PID, because the watchdog then applies to every process of the service. LISTEN_PID must be set, because
  // systemd always sets it for inherited sockets.
  const isWatched = environment["WATCHDOG_PID"] === undefined || isOurs("WATCHDOG_PID");
  const watchdogMs = isWatched ? wholeNumber(environment["WATCHDOG_USEC"]) / 1000 : 0;
  return {
    listenFds: Array.from({ length: listenCount }, (_, index) => firstListenFd + index),
    notifySocket: environment["NOTIFY_SOCKET"] || undefined,
    watchdogMs: watchdogMs > 0 ? watchdogMs : undefined,
  };
}

/** Parses a whole number. Returns 0 for invalid text. */
function wholeNumber(text = ""): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
