import { ApiError } from "../../shared/api-error.js";
import type { Operations } from "../../shared/client.js";
import type { KnownInstances } from "./ask-others.js";
import type { Entry } from "./merged-entries.js";
import { MergedStream, type OpenStream, type PositionedEntry, type StreamCall, type StreamSource } from "./merged-stream.js";

/**
 * Maximum number of streams with entries of other daemons. Each of them also opens a stream at each other daemon, and each daemon accepts
 * at most 100 streams.
 */
const mostMergedStreams = 32;

/** Opens streams with entries of several daemons, and limits the number of streams that contain entries of other daemons. */
export class MergedStreams {
  #openCount = 0;
  /**
   * Unix time in ms at which a stream first found that a daemon sends no heartbeats, by id of the daemon. The daemon has made no later
   * change.
   */
  readonly #gone = new Map<string, number>();

  /**
   * Returns the feed of a stream. Throws TOO_MANY_STREAMS if 32 streams with entries of other daemons are open. The feed throws the same
   * error if the limit is reached when the feed begins or when another daemon registers.
   */
  feed<Offered extends Operations, Item extends Entry>(
    instances: KnownInstances,
    source: StreamSource<Offered, Item>,
    call: StreamCall,
  ): (signal: AbortSignal) => AsyncGenerator<readonly PositionedEntry<Item>[]> {
    const isAlone = instances.registry.others().length === 0;
    if (!isAlone) this.#assertBelowLimit();
    return (signal) => this.#run(signal, isAlone, (open) => new MergedStream(instances, source, open).run(call));
  }

  /** Runs a stream. Counts it toward `mostMergedStreams` from the start or, with `isAlone`, only when it connects to another daemon. */
  async *#run<Batch>(signal: AbortSignal, isAlone: boolean, open: (stream: OpenStream) => AsyncGenerator<Batch>): AsyncGenerator<Batch> {
    const ending = new AbortController();
    let isCounted = false;
    const acquireStream = () => {
      if (isCounted) return;
      this.#assertBelowLimit();
      this.#openCount += 1;
      isCounted = true;
    };
    try {
      if (!isAlone) acquireStream();
      yield* open({ signal: AbortSignal.any([signal, ending.signal]), acquireStream, gone: this.#gone });
    } finally {
      this.#openCount -= isCounted ? 1 : 0;
      ending.abort();
    }
  }

  #assertBelowLimit(): void {
    if (this.#openCount < mostMergedStreams) return;
    throw new ApiError(
      "TOO_MANY_STREAMS",
      `${mostMergedStreams} streams with entries of other daemons are open. Close a stream, or set instance=self.`,
      { retryAfterSeconds: 10 },
    );
  }
}
