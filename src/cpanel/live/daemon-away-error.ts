/** Error of a call while the daemon is unreachable, because of the network, a proxy or a restart. */
export class DaemonAwayError extends Error {
  constructor(cause: unknown) {
    super("The daemon does not respond. The panel continues automatically when it responds again.", { cause });
    this.name = "DaemonAwayError";
  }
}
