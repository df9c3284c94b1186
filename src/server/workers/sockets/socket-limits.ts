/** Maximum size in bytes of a client's message. After a longer message, the daemon closes the WebSocket with code 1009. */
export const maximumMessageBytes = 1024 * 1024;
/**
 * Maximum number of fragments in a client's message, because each fragment needs memory. After more fragments, the daemon closes the
 * WebSocket with code 1008.
 */
export const maximumFragments = 1024;
/** Maximum number of WebSockets per isolate, which bounds the memory. The next upgrade request receives the status 503. */
export const maximumSocketsPerIsolate = 1000;
/** Interval in ms between two pings to a client. If the client transfers no byte in between, the daemon ends the connection. */
export const pingIntervalMs = 30_000;
/**
 * Maximum time in ms in which a client must complete a message or respond to a ping. The limit also ends a connection on which single bytes
 * arrive.
 */
export const slowestMessageMs = 120_000;
/** Time in ms in which a client must respond to a close frame. After this time, the daemon ends the connection. */
export const closeTimeoutMs = 10_000;
/** Time in ms for which WebSockets stay open after their worker version was replaced, deleted or disabled. */
export const socketGraceMs = 3000;
/** Maximum time in ms in which an isolate must handle a message. After this time, the isolate counts as blocked. */
export const messageTimeoutMs = 30_000;
/** Seconds in the `Retry-After` header of the response when an isolate has the maximum number of WebSockets. */
export const retryAfterSeconds = 5;
