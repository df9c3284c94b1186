/** What systemd says to a service through its environment. */
export interface ServiceEnvironment {
  /** Descriptors of listening sockets that were handed over; they win over host and port. */
  readonly listenFds: readonly number[];
  /** Address of the socket that takes notes about the service: a path, or `@` and an abstract name. */
  readonly notifySocket: string | undefined;
  /** The service is restarted when it gives no sign of life for so long. */
  readonly watchdogMs: number | undefined;
}

/** All of them are meant for one process: none may reach the code of workers and plugins, or a child process. */
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

/** Takes what is meant for the process with this id; what is meant for another, or is no number, counts as not there. */
export function readServiceEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { pid }: { pid: number },
): ServiceEnvironment {
  const isOurs = (variable: string) => environment[variable] === String(pid);
  const listenCount = isOurs("LISTEN_PID") ? Math.min(mostListenFds, wholeNumber(environment["LISTEN_FDS"])) : 0;
  // Unlike the sockets, the watchdog may be meant for whichever process of the service answers.
  const isWatched = environment["WATCHDOG_PID"] === undefined || isOurs("WATCHDOG_PID");
  const watchdogMs = isWatched ? wholeNumber(environment["WATCHDOG_USEC"]) / 1000 : 0;
  return {
    listenFds: Array.from({ length: listenCount }, (_, index) => firstListenFd + index),
    notifySocket: environment["NOTIFY_SOCKET"] || undefined,
    watchdogMs: watchdogMs > 0 ? watchdogMs : undefined,
  };
}

/** 0 for what is none. */
function wholeNumber(text = ""): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
