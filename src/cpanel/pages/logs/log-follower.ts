import type { ClientOf } from "../../../shared/client.js";
import { stream, type RuntimeEvent } from "../../../shared/contract/events.js";
import { list, logs, type LogEntry } from "../../../shared/contract/worker-logs.js";
import { toPathSegments } from "../../../shared/package-name.js";
import { parsePastTimeMs } from "../../../shared/past-time.js";
import { followStream, type OpenStream, type StreamPhase } from "../../live/follow-stream.js";
import { Observable } from "../../live/observable.js";
import type { LogQuery } from "./log-query.js";
import { LogRows } from "./log-rows.js";
import { assertNoneMissing } from "./missing-entries.js";
import { entryRow, markRow, markWords, type LogRow } from "./log-row.js";

export const logOperations = { workers: { logs }, logs: { list }, events: { stream } };

/** Number of log entries that the stream sends at first, and that each request of older entries adds. */
export const pageSize = 5000;
/** The log shows the events of this past period, if the daemon still has them. */
const eventsSince = "7d";
/** Interval between updates of the log view. Rows that arrive within one interval are rendered together. */
const collectMs = 100;

export interface LogState {
  /** The newest rows up to a limit, oldest first. */
  readonly rows: readonly LogRow[];
  /** Number of log entries received from the stream. Includes dropped entries. Excludes older entries that the user loaded. */
  readonly total: number;
  readonly phase: StreamPhase;
  /** Error with which the daemon rejected the log stream. */
  readonly error: unknown;
  /** Whether the daemon has older entries, and the view has space for them. */
  readonly hasOlder: boolean;
  /** Whether the daemon has older entries, even if the view has no space for them. */
  readonly isPartial: boolean;
}

/** The state before the daemon responds. */
export const emptyLog: LogState = { rows: [], total: 0, phase: "connecting", error: undefined, hasOlder: false, isPartial: false };

/** Follows the log of one worker or of all workers. After a lost connection, the stream continues after the last received entry. */
export class LogFollower {
  readonly state = new Observable(emptyLog);
  readonly #client: ClientOf<typeof logOperations>;
  readonly #query: LogQuery;
  readonly #end = new AbortController();
  readonly #rows = new LogRows();
  readonly #pending: LogRow[] = [];
  readonly #pendingMarks: LogRow[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #older: Promise<void> | undefined;
  #hasOlder: boolean | undefined;
  #received = 0;

  constructor(client: ClientOf<typeof logOperations>, query: LogQuery) {
    this.#client = client;
    this.#query = query;
    void this.#followEntries();
    void this.#followEvents();
  }

  close(): void {
    this.#end.abort();
    clearTimeout(this.#timer);
  }

  /** Adds older entries before the first row. Waits for a pending request. Throws the daemon's error, or INSTANCE_UNAVAILABLE. */
  async loadOlder(): Promise<void> {
    this.#older ??= this.#loadOlder().finally(() => (this.#older = undefined));
    await this.#older;
  }

  async #loadOlder(): Promise<void> {
    const before = this.#rows.position;
    if (before === undefined) return;
    const { entries, hasMore, instances } = await readEntries(this.#client, this.#query, { before, limit: pageSize });
    if (this.#end.signal.aborted) return;
    this.#rows.prepend(entries.map(entryRow));
    this.#hasOlder = hasMore;
    this.#flush();
    assertNoneMissing(instances);
  }

  async #followEntries(): Promise<void> {
    const { signal } = this.#end;
    const { worker, version, ...common } = this.#query;
    const query = { ...common, limit: pageSize };
    const { workers, logs: allLogs } = this.#client;
    const open: OpenStream<LogEntry> = (options) =>
      worker === undefined
        ? allLogs.list.follow({ query }, { signal, ...options })
        : workers.logs.follow({ params: toPathSegments(worker), query: { ...query, version } }, { signal, ...options });
    await followStream(open, {
      signal,
      onPhase: (phase, error) => this.#change({ phase, error }),
      take: (entry) => {
        this.#pending.push(entryRow(entry));
        this.#received += 1;
        this.#plan();
      },
    });
  }

  /** Follows the events of the daemon. If the daemon rejects them, the log is shown without events. */
  async #followEvents(): Promise<void> {
    const { signal } = this.#end;
    const { instance, worker, since, until } = this.#query;
    const untilMs = until === undefined ? undefined : parsePastTimeMs(until, Date.now());
    const query = { instance, worker, type: Object.keys(markWords).join(","), since: since ?? eventsSince };
    const open: OpenStream<RuntimeEvent> = (options) => this.#client.events.stream.follow({ query }, { signal, ...options });
    await followStream(open, {
      signal,
      onPhase: () => undefined,
      take: (event) => {
        const row = markRow(event);
        if (!row || (untilMs !== undefined && row.at >= untilMs)) return;
        this.#pendingMarks.push(row);
        this.#plan();
      },
    });
  }

  #plan(): void {
    this.#timer ??= setTimeout(() => this.#flush(), collectMs);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#rows.append(this.#pending.splice(0));
    const hasOlder = this.#hasOlder ?? this.#received >= pageSize;
    // If the daemon has older entries, holds back events that precede the first row. These events appear when the view loads the older
    // entries.
    const held = this.#rows.insertMarks(this.#pendingMarks.splice(0), { holdOlder: hasOlder });
    this.#pendingMarks.push(...held);
    this.#change({
      rows: this.#rows.all,
      total: this.#received,
      hasOlder: hasOlder && this.#rows.hasRoomFor(pageSize),
      isPartial: hasOlder || this.#rows.isTrimmed,
    });
  }

  #change(change: Partial<LogState>): void {
    if (!this.#end.signal.aborted) this.state.set({ ...this.state.get(), ...change });
  }
}

/** A page of entries, oldest first, as the daemon returns it. */
interface LogPage {
  readonly entries: readonly LogEntry[];
  readonly hasMore: boolean;
  readonly before?: string | undefined;
  readonly instances?: readonly { readonly name: string; readonly problem?: string | undefined }[] | undefined;
}

/** Reads the newest entries of a selection that are older than the position `before`. */
export async function readEntries(
  client: ClientOf<typeof logOperations>,
  { worker, version, ...query }: LogQuery,
  page: { readonly before?: string | undefined; readonly limit: number },
): Promise<LogPage> {
  if (worker === undefined) return client.logs.list({ query: { ...query, ...page } });
  return client.workers.logs({ params: toPathSegments(worker), query: { ...query, version, ...page } });
}
