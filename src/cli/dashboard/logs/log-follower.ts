import { setTimeout as delay } from "node:timers/promises";
import { toPathSegments } from "../../../shared/package-name.js";
import { followLogs, type LogReader } from "../../commands/workers/follow-logs.js";
import { localTime } from "../../commands/workers/log-line.js";
import { isAway } from "../queries/is-away.js";
import { logLines, type LogLine } from "./log-line.js";
import type { Session } from "../session/session.js";
import { useEffect, useState, useSyncExternalStore } from "react";
import { useSession } from "../session/hooks.js";

/**
 * Maximum number of workers whose logs are followed. Each worker needs a stream of its own, and the daemon limits the number of streams for
 * all clients together.
 */
const mostFollowed = 16;
/** Time in which log entries are collected before the screen is drawn. Even a fast log thus causes at most 20 frames per second. */
const collectMs = 50;
const retryMs = 1000;
/** Number of past log entries to load per worker: `ofOne` if the logs of one worker are followed, `ofMany` for several workers. */
const firstEntries = { ofOne: 1000, ofMany: 100 };

export const mostLines = 5000;
const mostCharacters = 2_000_000;

export interface LogSnapshot {
  /** The newest lines of all workers, oldest first. At most `mostLines` lines with `mostCharacters` characters in total. */
  readonly lines: readonly LogLine[];
  /** Number of lines received so far, including lines that are no longer in `lines`. */
  readonly totalLines: number;
  readonly followed: readonly string[];
  readonly state: "connecting" | "live" | "lost";
  /** The error that ended the last open log stream. Undefined while a stream is open. */
  readonly error: Error | undefined;
}

/** Streams the logs of several workers, as `runtimectl workers logs -f` does. */
class LogFollower {
  readonly #session: Session;
  readonly #listeners = new Set<() => void>();
  readonly #followers = new Map<string, AbortController>();
  readonly #lost = new Set<string>();
  #lostAtMs = 0;
  #pending: LogLine[] = [];
  #timer: NodeJS.Timeout | undefined;
  #snapshot: LogSnapshot = { lines: [], totalLines: 0, followed: [], state: "connecting", error: undefined };

  constructor(session: Session) {
    this.#session = session;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly snapshot = (): LogSnapshot => this.#snapshot;

  /**
   * Follows the logs of these workers and stops following all others. If there are more than `mostFollowed` workers, those already followed
   * have priority.
   */
  follow(names: readonly string[]): void {
    for (const name of this.#followers.keys()) if (!names.includes(name)) this.#leave(name);
    const others = names.filter((name) => !this.#followers.has(name));
    for (const name of others.slice(0, mostFollowed - this.#followers.size)) {
      const end = new AbortController();
      this.#followers.set(name, end);
      void this.#run(name, { signal: end.signal, limit: names.length === 1 ? firstEntries.ofOne : firstEntries.ofMany });
    }
    this.#change({ followed: [...this.#followers.keys()] });
  }

  close(): void {
    for (const name of this.#followers.keys()) this.#leave(name);
    clearTimeout(this.#timer);
  }

  async #run(name: string, { signal, limit }: { signal: AbortSignal; limit: number }): Promise<void> {
    const reader: LogReader = {
      signal,
      show: (entry) => this.#take(logLines(name, entry)),
      onLost: () => this.#onLost(name),
      onBack: () => this.#onBack(name),
    };
    while (!signal.aborted) {
      try {
        const input = { params: toPathSegments(name), query: { limit } };
        await followLogs(reader, await this.#session.client(), { input, onOpen: () => this.#change({ state: "live" }) });
      } catch (error) {
        if (signal.aborted) return;
        if (!isAway(error)) return this.#onRefused(name, error as Error);
        await delay(retryMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  #leave(name: string): void {
    this.#followers.get(name)?.abort();
    this.#followers.delete(name);
    this.#lost.delete(name);
  }

  #onRefused(name: string, error: Error): void {
    this.#leave(name);
    this.#change({ followed: [...this.#followers.keys()], ...(this.#followers.size === 0 ? { error } : {}) });
  }

  #onLost(name: string): void {
    if (this.#lost.size === 0) this.#lostAtMs = Date.now();
    this.#lost.add(name);
    this.#change({ state: "lost" });
  }

  /**
   * Adds a line about the gap in the logs when no stream is lost any more. Adds only one line, because all workers share the connection to
   * the daemon and have the same gap.
   */
  #onBack(name: string): void {
    this.#lost.delete(name);
    if (this.#lost.size > 0) return;
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
    // Sorts the lines if necessary, because entries from several streams do not arrive in the order in which the daemon wrote them.
    if (lines.some((line, index) => index > 0 && order(lines[index - 1] as LogLine, line) > 0)) lines.sort(order);
    this.#change({ lines: newestLines(lines), totalLines: this.#snapshot.totalLines + pending.length });
  }

  #change(change: Partial<LogSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    for (const listener of this.#listeners) listener();
  }
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
