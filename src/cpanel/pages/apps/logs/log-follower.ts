import type { ClientOf } from "../../../../shared/client.js";
import { ApiError } from "../../../../shared/api-error.js";
import { logs, type LogEntry, type LogLevel, type LogSource } from "../../../../shared/contract/worker-logs.js";
import { toPathSegments } from "../../../../shared/package-name.js";
import { Observable } from "../../../live/observable.js";
import { pause } from "../../../live/pause.js";

export const logOperations = { workers: { logs } };

/** Maximum number of log entries in the browser. Older entries are dropped. */
const mostEntries = 1000;
const mostCharacters = 2 * 1024 * 1024;
/** Interval between updates of the log view. Entries that arrive within one interval are rendered together. */
const collectMs = 100;
const firstRetryMs = 1000;
const longestRetryMs = 15_000;

export interface LogQuery {
  readonly level: LogLevel;
  readonly version: string | undefined;
  readonly text: string | undefined;
  readonly source?: LogSource | undefined;
  readonly status?: string | undefined;
}

export interface LogState {
  /** The newest log entries up to a limit, oldest first. */
  readonly entries: readonly LogEntry[];
  /** Number of received log entries, including dropped entries. */
  readonly total: number;
  readonly phase: "connecting" | "live" | "lost" | "refused";
  /** Error with which the daemon rejected the log stream. */
  readonly error: unknown;
}

/** Follows the log of an app. After a lost connection, the stream continues after the last received entry. */
export class LogFollower {
  readonly state = new Observable<LogState>({ entries: [], total: 0, phase: "connecting", error: undefined });
  readonly #client: ClientOf<typeof logOperations>;
  readonly #end = new AbortController();
  #pending: LogEntry[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: ClientOf<typeof logOperations>, name: string, query: LogQuery) {
    this.#client = client;
    void this.#run(name, query);
  }

  close(): void {
    this.#end.abort();
    clearTimeout(this.#timer);
  }

  async #run(name: string, query: LogQuery): Promise<void> {
    const { signal } = this.#end;
    const input = { params: toPathSegments(name), query: { ...query, limit: mostEntries } };
    let lastEventId: number | undefined;
    let retryMs = firstRetryMs;
    while (!signal.aborted) {
      try {
        const onOpen = () => {
          retryMs = firstRetryMs;
          this.#change({ phase: "live", error: undefined });
        };
        for await (const entry of this.#client.workers.logs.follow(input, { signal, lastEventId, onOpen })) {
          lastEventId = entry.id;
          this.#take(entry);
        }
      } catch (error) {
        if (signal.aborted) return;
        // After a 401, the user can sign in again on the same page, so the follower retries. Other rejections with a status below 500 are
        // final.
        if (error instanceof ApiError && error.status < 500 && error.status !== 401) return this.#change({ phase: "refused", error });
      }
      if (signal.aborted) return;
      this.#change({ phase: "lost" });
      await pause(retryMs, signal);
      retryMs = Math.min(retryMs * 2, longestRetryMs);
    }
  }

  #take(entry: LogEntry): void {
    this.#pending.push(entry);
    this.#timer ??= setTimeout(() => this.#flush(), collectMs);
    if (this.#pending.length >= mostEntries) this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { entries, total } = this.state.get();
    const pending = this.#pending.splice(0);
    this.#change({ entries: newest([...entries, ...pending]), total: total + pending.length });
  }

  #change(change: Partial<LogState>): void {
    this.state.set({ ...this.state.get(), ...change });
  }
}

function newest(entries: readonly LogEntry[]): readonly LogEntry[] {
  let first = Math.max(0, entries.length - mostEntries);
  let characters = 0;
  for (let index = entries.length - 1; index >= first; index -= 1) {
    characters += entries[index]?.text.length ?? 0;
    if (characters > mostCharacters) first = index + 1;
  }
  return entries.slice(first);
}
