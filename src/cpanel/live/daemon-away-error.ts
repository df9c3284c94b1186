/** Error of a call without a response of the daemon, because of the network, a proxy or a restart of the daemon. */
export class DaemonAwayError extends Error {
  /** Whether the daemon has possibly carried out the request. False for a request that only reads. */
  readonly isOutcomeUnknown: boolean;

  /** `method` is the HTTP method of the request. */
  constructor(cause: unknown, method: string) {
    const isOutcomeUnknown = method !== "GET";
    super(
      isOutcomeUnknown
        ? "The daemon did not respond, and has possibly carried out the request. When it responds again, check the result before you try again."
        : "The daemon does not respond. The panel reconnects automatically.",
      { cause },
    );
    this.name = "DaemonAwayError";
    this.isOutcomeUnknown = isOutcomeUnknown;
  }
}
