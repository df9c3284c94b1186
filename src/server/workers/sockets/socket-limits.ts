/** Maximum message size from a client; a longer message closes the socket with 1009. */
export const maximumMessageBytes = 1024 * 1024;
/** Maximum fragments of a client's message; more close the socket with 1008. */
export const maximumFragments = 1024;
/** Maximum open sockets of one isolate; a further upgrade gets 503. */
export const maximumSocketsPerIsolate = 1000;
/** Ping interval. A client that transfers no byte between two pings is disconnected. */
export const pingIntervalMs = 30_000;
/** Maximum time for one message, or for the response to a ping, even if bytes keep arriving. */
export const slowestMessageMs = 120_000;
/** Time for a client to respond to a close before its connection is cut. */
export const closeTimeoutMs = 10_000;
/** Time that sockets stay open after their code was replaced, deleted or disabled. */
export const socketGraceMs = 3000;
/** Time to process a message before the isolate counts as blocked. */
export const messageTimeoutMs = 30_000;
/** `Retry-After` in seconds when an isolate has no free socket. */
export const retryAfterSeconds = 5;
