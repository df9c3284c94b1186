/** The values of the environment variables that systemd sets for a service. */
export interface ServiceEnvironment {
  /** Descriptors of inherited listening sockets. These have priority over host and port. */
  readonly listenFds: readonly number[];
  /** Address of the socket for notifications to systemd: a path, or `@` and an abstract name. */
  readonly notifySocket: string | undefined;
  /** Time without a notification after which the service manager restarts the service. */
  readonly watchdogMs: number | undefined;
}

/** Environment variables that systemd sets for this process. Workers, plugins and child processes must not inherit these variables. */
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
  // Ignores a missing WATCHDOG_PID, because the watchdog then applies to any process of the service. LISTEN_PID is always set for
  // inherited sockets.
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
