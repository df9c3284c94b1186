/** The daemon is unreachable: because of the network, a proxy or a restart. */
export class DaemonAwayError extends Error {
  constructor(cause: unknown) {
    super("The daemon does not answer. The panel goes on by itself when it is back.", { cause });
    this.name = "DaemonAwayError";
  }
}
