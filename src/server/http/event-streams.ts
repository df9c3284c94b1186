import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { ApiError } from "../../shared/api-error.js";
import type { EventFeed } from "./handler.js";
import { endEvent, formatEvent } from "../../shared/event-stream.js";
import { toApiError } from "../web/error-response.js";

const mostStreams = 100;
/**
 * Interval in ms at which the daemon sends a comment on each event stream. The comments keep proxies from closing the stream, and show the
 * client that the connection still works.
 */
const heartbeatMs = 15_000;
/**
 * If the last permission check of a stream is older than this time in ms, the daemon checks again before it sends events. A revoked key
 * therefore receives events for at most 1 s.
 */
const trustedMs = 1000;
/**
 * Time limit in ms for the unsent bytes of an event stream that the daemon has ended. A client that does not read cannot keep the
 * connection open longer.
 */
const lastWriteTimeoutMs = 1000;

export interface EventStream {
  readonly feed: EventFeed<object>;
  /** Throws if the caller is no longer allowed to read the events, for example because the key is revoked or expired. */
  readonly assertAllowed: () => void;
}

/**
 * Writes events to the open event streams, and ends the streams when the daemon stops. A call that starts a stream does not wait until the
 * stream ends.
 */
export class EventStreams {
  readonly #open = new Set<AbortController>();
  #isClosed = false;

  /**
   * Starts an event stream and returns immediately. The stream ends when the feed ends, when the client disconnects or loses its
   * permission, or when the daemon stops. Throws TOO_MANY_STREAMS, or NOT_READY while the daemon stops.
   */
  start(response: ServerResponse, stream: EventStream): void {
    if (this.#isClosed) throw new ApiError("NOT_READY", "The daemon is not ready: it is stopping.", { retryAfterSeconds: 1 });
    if (this.#open.size >= mostStreams)
      throw new ApiError("TOO_MANY_STREAMS", "Too many event streams are open. Close a stream, or retry after 10 seconds.", {
        retryAfterSeconds: 10,
      });
    response.statusCode = 200;
    response.setHeader("Content-Type", "text/event-stream; charset=utf-8");
    response.setHeader("X-Accel-Buffering", "no");
    if (response.req.method === "HEAD" || response.destroyed) {
      response.end();
      return;
    }
    const ending = new AbortController();
    this.#open.add(ending);
    response.once("close", () => ending.abort());
    response.flushHeaders();
    void this.#run(response, stream, ending).finally(() => this.#open.delete(ending));
  }

  /** Ends all event streams. The clients can then connect again. */
  close(): void {
    this.#isClosed = true;
    for (const ending of this.#open) ending.abort();
  }

  async #run(response: ServerResponse, { feed, assertAllowed }: EventStream, ending: AbortController): Promise<void> {
    let checkedAtMs = performance.now();
    const stop = (error: unknown): void => {
      if (response.writable) response.write(formatEvent({ event: endEvent, data: JSON.stringify(toApiError(error).toBody()) }));
      ending.abort();
    };
    const check = (): void => {
      checkedAtMs = performance.now();
      try {
        assertAllowed();
      } catch (error) {
        stop(error);
      }
    };
    const heartbeat = setInterval(() => {
      check();
      if (!ending.signal.aborted && !response.writableNeedDrain) response.write(":\n\n");
    }, heartbeatMs);
    try {
      for await (const batch of feed(ending.signal)) {
        if (performance.now() - checkedAtMs > trustedMs) check();
        if (ending.signal.aborted) break;
        const text = batch.map(({ id, event }) => formatEvent({ id, data: JSON.stringify(event) })).join("");
        if (!response.write(text)) await once(response, "drain", { signal: ending.signal });
      }
    } catch (error) {
      if (!ending.signal.aborted) stop(error);
    } finally {
      clearInterval(heartbeat);
      response.end();
      // Destroys the connection if the client does not read in time. After a new connection, the client receives the missed events.
      const cut = setTimeout(() => response.destroy(), lastWriteTimeoutMs);
      response.once("close", () => clearTimeout(cut));
    }
  }
}
