import { setImmediate as turn } from "node:timers/promises";
import type { RuntimeEvent } from "../../shared/contract/events.js";
import { EntryBuffer } from "./entry-buffer.js";

/** Number of events in memory, for clients that reconnect. */
const keptEvents = 2000;
/** Maximum number of events that a follower receives in one batch. */
const batchEvents = 256;
const longestMessage = 500;

const gapMessage =
  "Events before this one may be missing: they are not kept any more, or the daemon was started again. Read again what you show.";

export type NewEvent = Omit<RuntimeEvent, "id" | "at">;

/** The position from which a follower receives events: after an id, from a time (Unix milliseconds), or from now. */
interface EventStart {
  readonly lastEventId: number | undefined;
  readonly sinceMs: number | undefined;
}

interface RuntimeEventsOptions {
  readonly now: () => number;
  readonly kept?: number;
  readonly onPublished?: (event: RuntimeEvent) => void;
}

/** The events of the daemon. The newest events are in memory. A slow follower does not delay the publication of an event. */
export class RuntimeEvents {
  readonly #now: () => number;
  readonly #onPublished: ((event: RuntimeEvent) => void) | undefined;
  readonly #startedAtMs: number;
  readonly #recent: EntryBuffer<RuntimeEvent>;
  #nextId: number;
  #publishedCount = 0;
  #followerCount = 0;

  /** `now` returns the current time in Unix milliseconds. `onPublished` is called for each event. */
  constructor({ now, kept = keptEvents, onPublished }: RuntimeEventsOptions) {
    this.#now = now;
    this.#onPublished = onPublished;
    this.#startedAtMs = now();
    // Starts above the ids of earlier daemon processes. A follower that reconnects after a restart can then detect missing events.
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
    const published = { id, at: this.#now(), ...event, ...(message === undefined ? {} : { message: message.slice(0, longestMessage) }) };
    this.#recent.add([published]);
    this.#onPublished?.(published);
  }

  /**
   * Yields matching events in batches until the signal aborts. The first event is `stream.opened`, whose id a follower can resume from, or
   * `stream.gap` if events are missing. A slow follower can receive `stream.gap` later too.
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
        // Waits until the current turn of the event loop ends. One batch then contains all events of this turn.
        await turn();
      }
    } finally {
      this.#followerCount -= 1;
    }
  }

  #begin({ lastEventId, sinceMs }: EventStart): { seenId: number; notice?: RuntimeEvent } {
    const { newestId, droppedThroughId } = this.#recent;
    if (lastEventId !== undefined) {
      // Reports a gap if the follower sends an id that the daemon has not assigned, because the daemon cannot know which events the
      // follower has received.
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

/** Publishes an event when the active version of a worker changes, by an operation of the API or by a change of files on the disk. */
export class ActiveVersionTracker {
  readonly #publish: (event: NewEvent) => void;
  readonly #versions = new Map<string, string>();
  #isPublishing = false;

  constructor(publish: (event: NewEvent) => void) {
    this.#publish = publish;
  }

  /** Starts to publish events. The versions that `note` recorded earlier are the initial state and cause no event. */
  startPublishing(): void {
    this.#isPublishing = true;
  }

  /** Records the active version of a worker, or undefined if the worker has no active version. */
  note(name: string, version: string | undefined): void {
    if (this.#versions.get(name) === version) return;
    if (version === undefined) this.#versions.delete(name);
    else this.#versions.set(name, version);
    if (!this.#isPublishing) return;
    if (version === undefined) this.#publish({ type: "worker.answering", subject: { name }, message: "No version answers." });
    else this.#publish({ type: "worker.answering", subject: { name, version }, message: `Version ${version} answers.` });
  }
}

/**
 * Returns the event for a change that another daemon made. The event has no principal, because other daemons do not report the principal.
 */
export function eventOfOtherDaemon({ type, subject }: Pick<NewEvent, "type" | "subject">): NewEvent {
  return { type, subject, message: "by another daemon", isRepeat: true };
}
