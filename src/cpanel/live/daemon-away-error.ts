/** Error of a call that does not reach the daemon, because of the network, a proxy or a restart of the daemon. */
export class DaemonAwayError extends Error {
  constructor(cause: unknown) {
    super("The daemon does not respond. The panel continues automatically when it responds again.", { cause });
    this.name = "DaemonAwayError";
  }
}
