import type { ClientOf } from "../../../shared/client.js";
import { list, type AuditEntry } from "../../../shared/contract/audit.js";
import { positionBefore } from "../../../shared/contract/entry-position.js";
import { stream, type RuntimeEvent } from "../../../shared/contract/events.js";
import { followStream, type OpenStream, type StreamPhase } from "../../live/follow-stream.js";
import { Observable } from "../../live/observable.js";
import { assertNoneMissing } from "../logs/missing-entries.js";
import { fromAudit, fromEvent, isOnlyEvent, type ActivityEntry } from "./activity-entry.js";

export const activityOperations = { audit: { list }, events: { stream } };

/** Number of audit entries that the stream sends at first, and that each press of `Load older entries` adds. */
const pageSize = 500;
/** Maximum number of live entries in the browser. Older entries are dropped. */
const mostEntries = 5000;
/** The daemon first sends the events of this past period, if it still has them. */
const eventsSince = "7d";
/** Interval between updates of the table. Entries that arrive within one interval are rendered together. */
const collectMs = 100;

export interface ActivityState {
  /** The rows of the table, newest first. */
  readonly entries: readonly ActivityEntry[];
  readonly phase: StreamPhase;
  /** Error with which the daemon rejected a stream. */
  readonly error: unknown;
  /** Whether the daemon has audit entries that are older than the loaded entries. */
  readonly hasOlder: boolean;
}

interface Source<Received> {
  readonly open: OpenStream<Received>;
  /** Returns the table row for a received item. Returns undefined if the table does not show the item. */
  readonly toEntry: (received: Received) => ActivityEntry | undefined;
}

/** Follows the audit log and the events. Without the permission for the audit log, follows the events only. */
export class ActivityFollower {
  readonly state = new Observable<ActivityState>({ entries: [], phase: "connecting", error: undefined, hasOlder: false });
  readonly #client: ClientOf<typeof activityOperations>;
  readonly #end = new AbortController();
  readonly #pending: ActivityEntry[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: ClientOf<typeof activityOperations>, { mayAudit }: { mayAudit: boolean }) {
    this.#client = client;
    const { signal } = this.#end;
    const audit: Source<AuditEntry> = {
      open: (options) => client.audit.list.follow({ query: { limit: pageSize } }, { signal, ...options }),
      toEntry: fromAudit,
    };
    const events: Source<RuntimeEvent> = {
      open: (options) => client.events.stream.follow({ query: { since: eventsSince } }, { signal, ...options }),
      toEntry: (event) => (isOnlyEvent(event) || (!mayAudit && !event.type.startsWith("stream.")) ? fromEvent(event) : undefined),
    };
    if (mayAudit) {
      void this.#follow(audit);
      void this.#look();
    }
    void this.#follow(events);
  }

  close(): void {
    this.#end.abort();
    clearTimeout(this.#timer);
  }

  /** Adds older entries of the audit log. Throws the daemon's error, or INSTANCE_UNAVAILABLE. */
  async loadOlder(): Promise<void> {
    const before = positionBefore(this.state.get().entries.flatMap(({ source }) => ("action" in source ? [source] : [])));
    if (before === undefined) return;
    const { entries, hasMore, instances } = await this.#client.audit.list({ query: { before, limit: pageSize } });
    if (this.#end.signal.aborted) return;
    this.#add(entries.map(fromAudit));
    this.#change({ hasOlder: hasMore });
    assertNoneMissing(instances);
  }

  /** Checks whether the daemon has more audit entries than the stream sends at first. */
  async #look(): Promise<void> {
    try {
      const { hasMore } = await this.#client.audit.list({ query: { limit: pageSize } });
      this.#change({ hasOlder: hasMore });
    } catch {
      // Ignores the error, because the stream reports the same error.
    }
  }

  #follow<Received>({ open, toEntry }: Source<Received>): Promise<void> {
    return followStream(open, {
      signal: this.#end.signal,
      // If a stream loses its connection, keeps the error with which the daemon rejected the other stream.
      onPhase: (phase, error) => this.#change(phase === "lost" ? { phase } : { phase, error }),
      take: (received) => this.#take(toEntry(received)),
    });
  }

  #take(entry: ActivityEntry | undefined): void {
    if (!entry) return;
    this.#pending.push(entry);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#add(this.#pending.splice(0));
    }, collectMs);
  }

  #add(added: readonly ActivityEntry[]): void {
    const known = new Set(this.state.get().entries.map(({ key }) => key));
    const entries = [...this.state.get().entries, ...added.filter(({ key }) => !known.has(key))];
    this.#change({ entries: entries.toSorted((one, other) => other.at - one.at).slice(0, mostEntries) });
  }

  #change(change: Partial<ActivityState>): void {
    if (!this.#end.signal.aborted) this.state.set({ ...this.state.get(), ...change });
  }
}
