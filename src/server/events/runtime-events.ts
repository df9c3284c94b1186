import { setImmediate as turn } from "node:timers/promises";
import type { RuntimeEvent } from "../../shared/contract/events.js";
import { EntryBuffer } from "./entry-buffer.js";

/** Number of events in memory, for followers that reconnect. */
const keptEvents = 2000;
/** Maximum number of events per batch. */
const batchEvents = 256;
const longestMessage = 500;

const gapMessage =
  "Events before this one may be missing: they are not kept any more, or the daemon was started again. Read again what you show.";

export type NewEvent = Omit<RuntimeEvent, "id" | "at">;

/** The position at which a follower starts: after an id, at a time (Unix milliseconds), or now. */
interface EventStart {
  readonly lastEventId: number | undefined;
  readonly sinceMs: number | undefined;
}

/** The events of the daemon. Keeps the newest ones in memory. Publishing an event never waits for a follower. */
export class RuntimeEvents {
  readonly #now: () => number;
  readonly #startedAtMs: number;
  readonly #recent: EntryBuffer<RuntimeEvent>;
  #nextId: number;
  #publishedCount = 0;
  #followerCount = 0;

  /** `now` returns Unix milliseconds. */
  constructor({ now, kept = keptEvents }: { readonly now: () => number; readonly kept?: number }) {
    this.#now = now;
    this.#startedAtMs = now();
    // Ids are higher than those of earlier daemon processes, so a follower that reconnects detects possible gaps.
    this.#nextId = this.#startedAtMs * 1000;
    this.#recent = new EntryBuffer({ most: kept, before: this.#nextId - 1 });
  }

  get publishedCount(): number {
    return this.#publishedCount;
  }

  get followerCount(): number {
    return this.#followerCount;
  }

  publish(event: NewEvent): void {
    const { message } = event;
    const id = this.#nextId;
    this.#nextId += 1;
    this.#publishedCount += 1;
    this.#recent.add([{ id, at: this.#now(), ...event, ...(message === undefined ? {} : { message: message.slice(0, longestMessage) }) }]);
  }

  /**
   * Yields matching events in batches until the signal aborts. Begins with `stream.opened`, whose id a follower can resume from, or with
   * `stream.gap` if events are missing. A slow follower also gets `stream.gap` later.
   */
  async *follow(passes: (event: RuntimeEvent) => boolean, start: EventStart, signal: AbortSignal): AsyncGenerator<RuntimeEvent[]> {
    this.#followerCount += 1;
    try {
      let { seenId, notice } = this.#begin(start);
      let first: RuntimeEvent[] = notice ? [notice] : [];
      while (!signal.aborted) {
        if (seenId < this.#recent.droppedThroughId) {
          seenId = this.#recent.droppedThroughId;
          first = [this.#notice("stream.gap", seenId)];
        }
        const next = this.#recent.after(seenId, batchEvents);
        seenId = next.at(-1)?.id ?? seenId;
        const batch = [...first, ...next.filter((event) => passes(event))];
        first = [];
        if (batch.length > 0) yield batch;
        if (next.length === batchEvents) continue;
        await this.#recent.changed(seenId, signal);
        // All events of one turn are sent together.
        await turn();
      }
    } finally {
      this.#followerCount -= 1;
    }
  }

  #begin({ lastEventId, sinceMs }: EventStart): { seenId: number; notice?: RuntimeEvent } {
    const { newestId, droppedThroughId } = this.#recent;
    if (lastEventId !== undefined) {
      // With an id that was not assigned yet, it is not known which events the follower already has.
      if (lastEventId > newestId) return { seenId: newestId, notice: this.#notice("stream.gap", newestId) };
      return { seenId: lastEventId };
    }
    if (sinceMs === undefined) return { seenId: newestId, notice: this.#notice("stream.opened", newestId) };
    const kept = this.#recent.after(droppedThroughId, Infinity);
    const fits = kept.findIndex(({ at }) => at >= sinceMs);
    const seenId = fits < 0 ? newestId : (kept[fits] as RuntimeEvent).id - 1;
    const isCut = sinceMs < this.#startedAtMs || (fits === 0 && droppedThroughId >= this.#startedAtMs * 1000);
    return { seenId, notice: this.#notice(isCut ? "stream.gap" : "stream.opened", seenId) };
  }

  #notice(type: "stream.opened" | "stream.gap", id: number): RuntimeEvent {
    return { id, type, at: this.#now(), ...(type === "stream.gap" ? { message: gapMessage } : {}) };
  }
}

/** Publishes each change of a worker's active version. The cause can be an API call or a change of files on the disk. */
export class ActiveVersionTracker {
  readonly #publish: (event: NewEvent) => void;
  readonly #versions = new Map<string, string>();
  #isTelling = false;

  constructor(publish: (event: NewEvent) => void) {
    this.#publish = publish;
  }

  /** Starts to publish changes. Versions recorded before this call are the initial state. */
  tellFromNowOn(): void {
    this.#isTelling = true;
  }

  /** Records the active version; undefined when the worker has none. */
  note(name: string, version: string | undefined): void {
    if (this.#versions.get(name) === version) return;
    if (version === undefined) this.#versions.delete(name);
    else this.#versions.set(name, version);
    if (!this.#isTelling) return;
    if (version === undefined) this.#publish({ type: "worker.answering", subject: { name }, message: "No version answers." });
    else this.#publish({ type: "worker.answering", subject: { name, version }, message: `Version ${version} answers.` });
  }
}
