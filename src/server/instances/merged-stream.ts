import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../shared/api-error.js";
import { ChangeSignal } from "../../shared/change-signal.js";
import type { ClientOf, FollowOptions, Operations } from "../../shared/client.js";
import type { KnownInstances } from "./ask-others.js";
import { EntryFeed } from "./entry-feed.js";
import { formatPosition, namesOf, parsePosition } from "./entry-position.js";
import { problemOf } from "./instance-client.js";
import type { RegisteredInstance } from "./instance-registry.js";
import { askForPages, newestEntries, type Entry, type EntrySource, type OwnedEntry } from "./merged-entries.js";

/** Maximum number of streams with entries of other daemons. Each occupies a stream of each other daemon, which have a maximum of 100. */
const mostMergedStreams = 32;
/** Maximum number of entries in a batch. */
const batchEntries = 256;
/** Interval in ms at which the stream connects to daemons that are new or were lost. */
const connectIntervalMs = 5_000;

/** Where the entries of this daemon begin: after an id, or with the matching entries that the other fields select. */
export interface StreamStart {
  readonly afterId?: number | undefined;
  readonly sinceMs?: number | undefined;
  readonly beforeId?: number | undefined;
}

/** Options of a stream of another daemon. With `sinceMs`, older entries are not sent. */
export interface AskedStreamOptions extends FollowOptions {
  readonly sinceMs?: number | undefined;
}

type Paging = "read" | "ask" | "limit";

/**
 * Entries that this daemon and other daemons send as a stream. If `read`, `ask` and `limit` are set, the stream begins with the newest
 * entries of all daemons together. Otherwise each daemon sends its stored entries by itself.
 */
export interface StreamSource<Offered extends Operations, Item extends Entry>
  extends Omit<EntrySource<Offered, Item>, Paging>, Partial<Pick<EntrySource<Offered, Item>, Paging>> {
  /** Follows the entries of this daemon. */
  readonly follow: (start: StreamStart, signal: AbortSignal) => AsyncIterable<readonly Item[]>;
  /** Follows the entries of another daemon. */
  readonly askToFollow: (client: ClientOf<Offered>, options: AskedStreamOptions) => AsyncGenerator<Item, void>;
  /** Returns an entry that contains a notice about a daemon. `id` is the last id of the daemon, or 0. */
  readonly noticeOf?: (text: string, id: number) => Item;
  /** Returns whether a stream of all daemons omits an entry. `isComplete` is true if the stream has the entries of all other daemons that run. */
  readonly isOmitted?: (entry: Item, stream: { readonly isOwn: boolean; readonly isComplete: boolean }) => boolean;
}

/** An entry with the position after it, which a client sends as `Last-Event-ID`. */
export interface PositionedEntry<Item> {
  readonly id: string;
  readonly event: Item;
}

interface StreamCall {
  /** `all`, or the name or id of one daemon. */
  readonly wanted: string;
  readonly before: string | undefined;
  readonly lastEventId: string | undefined;
}

/** All open streams with entries of several daemons. */
export class MergedStreams {
  #openCount = 0;

  /** Returns the feed of a stream. Throws TOO_MANY_STREAMS if 32 streams with entries of other daemons are open. */
  feed<Offered extends Operations, Item extends Entry>(
    instances: KnownInstances,
    source: StreamSource<Offered, Item>,
    call: StreamCall,
  ): (signal: AbortSignal) => AsyncGenerator<readonly PositionedEntry<Item>[]> {
    const isAlone = instances.registry.others().length === 0;
    if (this.#openCount >= mostMergedStreams && !isAlone)
      throw new ApiError(
        "TOO_MANY_STREAMS",
        `${mostMergedStreams} streams with entries of other daemons are open. Close a stream, or set instance=self.`,
        { retryAfterSeconds: 10 },
      );
    return (signal) => this.#run((ended) => new MergedStream(instances, source, AbortSignal.any([signal, ended])).run(call), isAlone);
  }

  async *#run<Batch>(open: (ended: AbortSignal) => AsyncGenerator<Batch>, isAlone: boolean): AsyncGenerator<Batch> {
    const ending = new AbortController();
    this.#openCount += isAlone ? 0 : 1;
    try {
      yield* open(ending.signal);
    } finally {
      this.#openCount -= isAlone ? 0 : 1;
      ending.abort();
    }
  }
}

interface FeedStart extends StreamStart {
  /** Id up to which the entries were sent before. */
  readonly sentThroughId?: number;
}

/** One stream with the entries of several daemons, ordered by time as far as they arrive within 200 ms. */
class MergedStream<Offered extends Operations, Item extends Entry> {
  readonly #instances: KnownInstances;
  readonly #source: StreamSource<Offered, Item>;
  readonly #signal: AbortSignal;
  /** Ids of the last sent entries by daemon. 0: the daemon had no matching entry. */
  readonly #positions = new Map<string, number>();
  /** Where daemons begin that were not connected yet. */
  readonly #starts = new Map<string, FeedStart>();
  readonly #feeds = new Map<string, EntryFeed<Item>>();
  /** Daemons that run but are not connected. */
  readonly #lost = new Set<string>();
  readonly #notices: Item[] = [];
  readonly #changes = new ChangeSignal();
  #names: ReadonlyMap<string, string>;
  /** Id of the only wanted daemon. */
  #only: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(instances: KnownInstances, source: StreamSource<Offered, Item>, signal: AbortSignal) {
    this.#instances = instances;
    this.#source = source;
    this.#signal = signal;
    this.#names = namesOf(instances.registry);
  }

  async *run({ wanted, before, lastEventId }: StreamCall): AsyncGenerator<readonly PositionedEntry<Item>[]> {
    const { registry } = this.#instances;
    const page = lastEventId === undefined ? await this.#readFirstPage({ wanted, before }) : [];
    for (const [id, position] of lastEventId === undefined ? [] : parsePosition(lastEventId, registry)) this.#positions.set(id, position);
    this.#only = wanted === "all" ? undefined : registry.get(wanted).id;
    if (this.#only === undefined || this.#only === registry.own.id) this.#followOwn();
    const isNamed = ({ id }: RegisteredInstance) => lastEventId !== undefined && !this.#positions.has(id);
    const connected = this.#connect(isNamed).catch((error: unknown) => this.#fail(error));
    for (let index = 0; index < page.length; index += batchEntries)
      yield page.slice(index, index + batchEntries).map(({ daemonId, entry }) => this.#positioned(daemonId, entry));
    // All daemons send their stored entries before the next batch, so that these are in the order of their times.
    await connected;
    void this.#keepConnecting().catch((error: unknown) => this.#fail(error));
    while (!this.#signal.aborted) {
      if (this.#failure) throw this.#failure.error;
      const entries = this.#take();
      const notices = this.#notices.splice(0).map((event) => ({ id: this.#position(), event }));
      if (entries.length + notices.length > 0) yield [...entries, ...notices];
      else if (this.#isEnded()) return;
      else await this.#changes.changed(this.#signal);
    }
  }

  /** Returns the newest entries of all daemons. Sets the start of each daemon after its newest entry. */
  async #readFirstPage({ wanted, before }: Pick<StreamCall, "wanted" | "before">): Promise<OwnedEntry<Item>[]> {
    const source = this.#source;
    if (!hasPages(source)) return [];
    const { registry } = this.#instances;
    const positions = before === undefined ? new Map<string, number>() : parsePosition(before, registry);
    const answers = await askForPages(this.#instances, { wanted, positions }, source);
    const page = newestEntries(answers, source);
    for (const { daemonId, entry } of page) if (!this.#positions.has(daemonId)) this.#positions.set(daemonId, entry.id - 1);
    for (const { instance, answer } of answers) {
      if ("problem" in answer) continue;
      const last = answer.result.entries.at(-1);
      if (!this.#positions.has(instance.id)) this.#positions.set(instance.id, last?.id ?? 0);
      this.#starts.set(instance.id, last ? { sinceMs: source.timeOf(last), sentThroughId: last.id } : {});
    }
    return page;
  }

  #followOwn(): void {
    const { id } = this.#instances.registry.own;
    const start = this.#startOf(id);
    void this.#read(id, this.#source.follow(start, this.#signal), start).catch((error: unknown) => this.#fail(error));
  }

  /** Connects to the daemons that run and are not connected. `isNamed` returns whether a notice names a new daemon. */
  async #connect(isNamed: (daemon: RegisteredInstance) => boolean): Promise<void> {
    const { registry } = this.#instances;
    this.#names = namesOf(registry);
    if (registry.others().length === 0) return;
    const live = (await registry.readLive()).filter(({ id }) => this.#only === undefined || id === this.#only);
    for (const id of this.#lost) if (!live.some((one) => one.id === id)) this.#lost.delete(id);
    const missing = live.filter(({ id }) => !this.#feeds.has(id));
    await Promise.all(missing.map(async (daemon) => this.#followOther(daemon, isNamed(daemon))));
  }

  async #keepConnecting(): Promise<void> {
    while (!this.#signal.aborted) {
      await delay(connectIntervalMs, undefined, { signal: this.#signal, ref: false }).catch(() => undefined);
      if (!this.#signal.aborted) await this.#connect(() => true);
    }
  }

  async #followOther(daemon: RegisteredInstance, isNamed: boolean): Promise<void> {
    const { id } = daemon;
    const { key, offered, askToFollow } = this.#source;
    const start = this.#startOf(id);
    const { afterId, sinceMs } = start;
    const from = { sinceMs, lastEventId: afterId === undefined ? undefined : String(afterId) };
    let isAbsent = false;
    const onError = (error: unknown) => (isAbsent = this.#source.isAbsent?.(error) ?? false);
    const follow = (client: ClientOf<Offered>, options: FollowOptions) => reporting(askToFollow(client, { ...options, ...from }), onError);
    const answer = await this.#instances.client.follow(daemon, { key, offered, follow }, this.#signal);
    if (this.#signal.aborted || isAbsent) return;
    if ("problem" in answer) return this.#lose(id, answer.problem);
    this.#starts.delete(id);
    const verb = this.#positions.has(id) ? "continue" : "begin";
    if (this.#lost.delete(id) || isNamed) this.#notify(id, `Entries of the daemon ${this.#nameOf(id)} ${verb} here.`);
    void this.#read(id, inBatches(answer.result), start).then(
      () => this.#lose(id, "It ended the stream."),
      (error: unknown) => this.#lose(id, problemOf(error)),
    );
  }

  #startOf(id: string): FeedStart {
    const position = this.#positions.get(id) ?? 0;
    return this.#starts.get(id) ?? (position > 0 ? { afterId: position } : {});
  }

  async #read(id: string, batches: AsyncIterable<readonly Item[]>, { sentThroughId = 0 }: FeedStart): Promise<void> {
    const feed = new EntryFeed<Item>(id, () => this.#changes.notify());
    this.#feeds.set(id, feed);
    await feed.read(batches, (entry) => entry.id > sentThroughId, this.#signal);
  }

  /** Takes the entries that no earlier entry of another daemon is likely to precede, oldest first. */
  #take(): PositionedEntry<Item>[] {
    const batch: PositionedEntry<Item>[] = [];
    const { timeOf } = this.#source;
    const { own } = this.#instances.registry;
    const nowMs = performance.now();
    while (batch.length < batchEntries) {
      let oldest: { feed: EntryFeed<Item>; entry: Item } | undefined;
      for (const feed of this.#feeds.values())
        if (feed.head && (!oldest || timeOf(feed.head) < timeOf(oldest.entry))) oldest = { feed, entry: feed.head };
      if (!oldest) break;
      const { feed, entry } = oldest;
      const waitMs = Math.max(...[...this.#feeds.values()].map((one) => one.waitMs(nowMs)));
      // Entries without a time, such as those about the stream itself, do not wait.
      if (waitMs > 0 && timeOf(entry) > 0) {
        if (this.#timer === undefined) this.#timer = setTimeout(() => this.#wake(), waitMs);
        break;
      }
      feed.take(nowMs);
      const sent = this.#positioned(feed.daemonId, entry);
      if (!this.#isOmitted(entry, feed.daemonId === own.id)) batch.push(sent);
    }
    for (const [id, feed] of this.#feeds) if (feed.isFinished && id !== own.id) this.#feeds.delete(id);
    return batch;
  }

  #isOmitted(entry: Item, isOwn: boolean): boolean {
    if (this.#names.size === 1 || this.#only !== undefined) return false;
    return this.#source.isOmitted?.(entry, { isOwn, isComplete: this.#lost.size === 0 }) ?? false;
  }

  /** Returns whether the feed of this daemon has ended, for example because the worker was deleted. */
  #isEnded(): boolean {
    return this.#feeds.get(this.#instances.registry.own.id)?.isFinished ?? false;
  }

  #lose(id: string, problem: string): void {
    if (this.#signal.aborted || this.#lost.has(id)) return;
    this.#lost.add(id);
    this.#notify(id, `Entries of the daemon ${this.#nameOf(id)} are missing from here on. ${problem}`);
  }

  #wake(): void {
    this.#timer = undefined;
    this.#changes.notify();
  }

  #fail(error: unknown): void {
    this.#failure = { error };
    this.#changes.notify();
  }

  #notify(id: string, text: string): void {
    const notice = this.#source.noticeOf?.(text, this.#positions.get(id) ?? 0);
    if (notice) this.#notices.push(this.#named(id, notice));
    this.#changes.notify();
  }

  #positioned(daemonId: string, entry: Item): PositionedEntry<Item> {
    this.#positions.set(daemonId, entry.id);
    return { id: this.#position(), event: this.#named(daemonId, entry) };
  }

  #position(): string {
    return formatPosition(this.#positions, this.#names);
  }

  #named(daemonId: string, entry: Item): Item {
    return this.#names.size === 1 ? entry : { ...entry, instance: this.#nameOf(daemonId) };
  }

  #nameOf(id: string): string {
    return this.#names.get(id) ?? id;
  }
}

/** Returns whether a stream begins with the newest entries of all daemons together. */
export function hasPages<Offered extends Operations, Item extends Entry>(
  source: StreamSource<Offered, Item>,
): source is StreamSource<Offered, Item> & EntrySource<Offered, Item> {
  return source.read !== undefined && source.ask !== undefined && source.limit !== undefined;
}

async function* inBatches<Item>(items: AsyncIterable<Item>): AsyncGenerator<readonly Item[]> {
  for await (const item of items) yield [item];
}

/** Calls `onError` before it throws an error of the stream. */
async function* reporting<Item>(items: AsyncIterable<Item>, onError: (error: unknown) => void): AsyncGenerator<Item, void> {
  try {
    yield* items;
  } catch (error) {
    onError(error);
    throw error;
  }
}
