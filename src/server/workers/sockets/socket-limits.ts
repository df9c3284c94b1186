/** A longer message of a client closes its socket with 1009. */
export const maximumMessageBytes = 1024 * 1024;
/** Pieces that a client may send one message in; more close its socket with 1008. */
export const maximumFragments = 1024;
/** Open sockets of one isolate; another upgrade gets 503. */
export const maximumSocketsPerIsolate = 1000;
/** How often a client is pinged. One that sends nothing and takes nothing from one ping to the next is gone. */
export const pingIntervalMs = 30_000;
/** The longest that a message or the answer to a ping may take, however steadily its bytes come. */
export const slowestMessageMs = 120_000;
/** How long a client may take to answer a close before its connection is cut. */
export const closeTimeoutMs = 10_000;
/** How long sockets may go on with code that was replaced, deleted or disabled. */
export const socketGraceMs = 3000;
/** How long an app may compute on a message before its isolate counts as blocked. */
export const messageTimeoutMs = 30_000;
/** Seconds after which a client that found no room may try again. */
export const retryAfterSeconds = 5;
