import { setTimeout as delay } from "node:timers/promises";
import type { Client, FollowOptions } from "../../../shared/client.js";
import { toPathSegments } from "../../../shared/package-name.js";
import { streamWithReconnect, type StreamReader } from "../../client/reconnecting-stream.js";
import type { LogEntry } from "../../../shared/contract/worker-logs.js";
import { localTime } from "../../commands/workers/log-line.js";
import { isAway } from "../queries/is-away.js";
import { logLines, type LogLine } from "./log-line.js";
import type { Session } from "../session/session.js";
import { useEffect, useState, useSyncExternalStore } from "react";
import { useSession } from "../session/hooks.js";

/** Time in which log entries are collected before the screen is drawn. Even a fast log thus causes at most 20 frames per second. */
const collectMs = 50;
const retryMs = 1000;
/** Number of past log entries to load. */
const firstEntries = 1000;

export const mostLines = 5000;
const mostCharacters = 2_000_000;

export interface LogSnapshot {
  /** The newest lines of all workers, oldest first. At most `mostLines` lines with `mostCharacters` characters in total. */
  readonly lines: readonly LogLine[];
  /** Number of lines received so far, including lines that are no longer in `lines`. */
  readonly totalLines: number;
  readonly state: "connecting" | "live" | "lost";
  /** The error that ended the stream. Undefined while the stream is open. */
  readonly error: Error | undefined;
}

/** Streams the log of one worker, or the logs of all workers in one stream. */
class LogFollower {
  readonly #session: Session;
  readonly #listeners = new Set<() => void>();
  #names: ReadonlySet<string> = new Set();
  /** Name of the only worker that the stream contains. Undefined if the stream contains all workers. */
  #only: string | undefined;
  #ending: AbortController | undefined;
  #lostAtMs = 0;
  #pending: LogLine[] = [];
  #timer: NodeJS.Timeout | undefined;
  #snapshot: LogSnapshot = { lines: [], totalLines: 0, state: "connecting", error: undefined };

  constructor(session: Session) {
    this.#session = session;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): LogSnapshot => this.#snapshot;

  /** Follows the logs of these workers. Several workers share one stream, so a new worker does not open another stream. */
  follow(names: readonly string[]): void {
    const only = names.length === 1 ? names[0] : undefined;
    this.#names = new Set(names);
    if (this.#ending && only === this.#only) return;
    this.#ending?.abort();
    this.#ending = new AbortController();
    this.#only = only;
    void this.#run(only, this.#ending.signal);
  }

  close(): void {
    this.#ending?.abort();
    clearTimeout(this.#timer);
  }

  async #run(only: string | undefined, signal: AbortSignal): Promise<void> {
    const reader: StreamReader<LogEntry> = {
      signal,
      show: (entry) => {
        // The daemon also has logs of its built-in workers, which the dashboard does not show.
        if (entry.isNotice || this.#names.has(entry.worker)) this.#take(logLines(entry));
      },
      onLost: () => this.#onLost(),
      onBack: () => this.#onBack(),
    };
    while (!signal.aborted) {
      try {
        const client = await this.#session.client();
        await streamWithReconnect(reader, followOf(client, only), { onOpen: () => this.#change({ state: "live" }) });
      } catch (error) {
        if (signal.aborted) return;
        if (!isAway(error)) return this.#change({ error: error as Error });
        await delay(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  #onLost(): void {
    this.#lostAtMs = Date.now();
    this.#change({ state: "lost" });
  }

  /** Adds a line about the gap in the logs. */
  #onBack(): void {
    const [lostAt, now] = [new Date(this.#lostAtMs), new Date()];
    const id = (this.#pending.at(-1) ?? this.#snapshot.lines.at(-1))?.id ?? 0;
    const text = `--- connection lost ${localTime(lostAt, now)}, restored ${localTime(now, now)}: lines may be missing ---`;
    const entry = { time: now.getTime(), level: "warn", version: "", source: "runtime" } as const;
    this.#take([{ key: `gap ${now.getTime()}`, id, worker: "", entry, isFirst: true, text }]);
    this.#change({ state: "live" });
  }

  #take(lines: readonly LogLine[]): void {
    this.#pending.push(...lines);
    if (this.#pending.length >= mostLines) return this.#flush();
    this.#timer ??= setTimeout(() => this.#flush(), collectMs);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const pending = this.#pending.splice(0);
    const lines = [...this.#snapshot.lines, ...pending];
    // Sorts the lines if necessary, because entries of several daemons do not always arrive in the order of their times.
    if (lines.some((line, index) => index > 0 && order(lines[index - 1] as LogLine, line) > 0)) lines.sort(order);
    this.#change({ lines: newestLines(lines), totalLines: this.#snapshot.totalLines + pending.length });
  }

  #change(change: Partial<LogSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    for (const listener of this.#listeners) listener();
  }
}

/** Returns the function that opens the stream of one worker, or of all workers if `only` is undefined. */
function followOf(client: Client, only: string | undefined) {
  const query = { limit: firstEntries };
  return (options: FollowOptions) =>
    only === undefined
      ? client.logs.list.follow({ query }, options)
      : client.workers.logs.follow({ params: toPathSegments(only), query }, options);
}

/** Compares lines by time. Compares lines of the same millisecond by id, because a daemon numbers its entries in ascending order. */
function order(one: LogLine, other: LogLine): number {
  return one.entry.time - other.entry.time || one.id - other.id;
}

/** Returns the newest lines, at most `mostLines` lines with `mostCharacters` characters in total. */
export function newestLines(lines: readonly LogLine[]): readonly LogLine[] {
  let first = lines.length;
  let characters = 0;
  while (first > 0 && lines.length - first < mostLines) {
    characters += lines[first - 1]?.text.length ?? 0;
    if (characters > mostCharacters) break;
    first -= 1;
  }
  return first === 0 ? lines : lines.slice(first);
}

/** Follows the logs of these workers while the component is mounted. */
export function useLogFollower(names: readonly string[]): LogSnapshot {
  const session = useSession();
  const [feed] = useState(() => new LogFollower(session));
  useEffect(() => feed.follow(names), [feed, names]);
  useEffect(() => () => feed.close(), [feed]);
  return useSyncExternalStore(feed.subscribe, feed.snapshot);
}
