/** Maximum size of a message from a client. A longer message closes the WebSocket with code 1009. */
export const maximumMessageBytes = 1024 * 1024;
/**
 * Maximum number of fragments in a client's message, because each fragment needs memory. More fragments close the WebSocket with code 1008.
 */
export const maximumFragments = 1024;
/** Maximum number of WebSockets per isolate, which limits memory. A further upgrade request receives the status 503. */
export const maximumSocketsPerIsolate = 1000;
/** Interval between pings to a client. A client that transfers no byte between two pings is disconnected. */
export const pingIntervalMs = 30_000;
/**
 * Maximum time until a client completes a message or responds to a ping. The limit also ends connections on which single bytes keep
 * arriving.
 */
export const slowestMessageMs = 120_000;
/** Time for a client to respond to a close frame. Afterwards, the daemon cuts the connection. */
export const closeTimeoutMs = 10_000;
/** Time that WebSockets remain open after their worker version was replaced, deleted or disabled. */
export const socketGraceMs = 3000;
/** Maximum time for an isolate to process a message. Afterwards, the isolate counts as blocked. */
export const messageTimeoutMs = 30_000;
/** Value of `Retry-After` when an isolate has the maximum number of WebSockets. */
export const retryAfterSeconds = 5;
