import { setTimeout as delay } from "node:timers/promises";
import { ChangeSignal } from "../../shared/change-signal.js";
import type { ClientOf, FollowOptions, Operations } from "../../shared/client.js";
import type { KnownInstances } from "./ask-others.js";
import { EntryFeed, waitMs } from "./entry-feed.js";
import { formatPosition, keysOf, namesOf, parsePosition } from "./entry-position.js";
import { problemOf } from "./instance-client.js";
import type { RegisteredInstance } from "./instance-registry.js";
import { askForPages, newestEntries, type Entry, type EntrySource, type OwnedEntry } from "./merged-entries.js";

/** Maximum number of entries in a batch. */
const batchEntries = 256;
/** Total length in characters of the entries at which a batch ends. */
const batchCharacters = 64 * 1024;
/**
 * Time in ms after which a waiting entry is sent before older entries of other daemons. A wrong clock then delays the entries of a daemon
 * no longer than this.
 */
const turnMs = 2_000;
/** Interval in ms at which the stream connects to daemons that are new or were lost. */
const connectIntervalMs = 5_000;

/**
 * The position at which a stream of this daemon's entries begins: after the id `afterId`, or with the matching entries before the id
 * `beforeId`.
 */
export interface StreamStart {
  readonly afterId?: number | undefined;
  readonly beforeId?: number | undefined;
}

type Paging = "read" | "ask" | "limit";

/**
 * Entries that this daemon and other daemons send as a stream. If `read`, `ask` and `limit` are set, the stream begins with the newest
 * entries of all daemons together. Otherwise the stream of each daemon begins with its own stored entries.
 */
export interface StreamSource<Offered extends Operations, Item extends Entry>
  extends Omit<EntrySource<Offered, Item>, Paging>, Partial<Pick<EntrySource<Offered, Item>, Paging>> {
  /** Follows the entries of this daemon. */
  readonly follow: (start: StreamStart, signal: AbortSignal) => AsyncIterable<readonly Item[]>;
  /** Follows the entries of another daemon. */
  readonly askToFollow: (client: ClientOf<Offered>, options: FollowOptions) => AsyncGenerator<Item, void>;
  /** Returns an entry that contains a notice about a daemon. */
  readonly noticeOf?: (text: string) => Item;
  /**
   * Returns whether a stream of all daemons omits an entry. `isComplete` is true if all other daemons were already running at the time of
   * the entry and the stream contains their entries.
   */
  readonly isOmitted?: (entry: Item, stream: { readonly isOwn: boolean; readonly isComplete: boolean }) => boolean;
}

/** An entry with the position that follows the entry. A client sends this position as `Last-Event-ID` to continue the stream. */
export interface PositionedEntry<Item> {
  readonly id: string;
  readonly event: Item;
}

/** The requested daemons, and the position at which their entries begin. */
export interface StreamCall {
  /** `all`, or the name or id of one daemon. Handlers of the API also accept `self`. */
  readonly wanted: string;
  readonly before: string | undefined;
  readonly lastEventId: string | undefined;
}

/** State that `MergedStreams` shares with one of its open streams. */
export interface OpenStream {
  readonly signal: AbortSignal;
  /**
   * Counts this stream toward the maximum number of streams with entries of other daemons. Has no effect if the stream is already counted.
   * Throws TOO_MANY_STREAMS.
   */
  readonly acquireStream: () => void;
  /** Unix time in ms at which a stream first found that a daemon sends no heartbeats, by id of the daemon. All streams share this map. */
  readonly gone: Map<string, number>;
}

/** One stream with the entries of several daemons. The entries are in the order of their times if they arrive within 200 ms. */
export class MergedStream<Offered extends Operations, Item extends Entry> {
  readonly #instances: KnownInstances;
  readonly #source: StreamSource<Offered, Item>;
  readonly #signal: AbortSignal;
  readonly #acquireStream: () => void;
  /** Ids of the last sent entries by daemon. 0: the daemon had no matching entry. */
  readonly #positions = new Map<string, number>();
  /** Id of the last entry that each daemon sent for the first page. An id is removed when the stream has connected to the daemon. */
  readonly #starts = new Map<string, number>();
  readonly #feeds = new Map<string, EntryFeed<Item>>();
  /** Daemons that run but are not connected. */
  readonly #lost = new Set<string>();
  readonly #gone: Map<string, number>;
  readonly #notices: Item[] = [];
  readonly #changes = new ChangeSignal();
  #names: ReadonlyMap<string, string>;
  #keys: ReadonlyMap<string, string>;
  /** Id of the daemon if the client requested the entries of only one daemon. Undefined for all daemons. */
  #only: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failure: { readonly error: unknown } | undefined;

  constructor(instances: KnownInstances, source: StreamSource<Offered, Item>, { signal, acquireStream, gone }: OpenStream) {
    this.#gone = gone;
    this.#instances = instances;
    this.#source = source;
    this.#signal = signal;
    this.#acquireStream = acquireStream;
    this.#names = namesOf(instances.registry);
    this.#keys = keysOf(instances.registry);
  }

  async *run({ wanted, before, lastEventId }: StreamCall): AsyncGenerator<readonly PositionedEntry<Item>[]> {
    const { registry } = this.#instances;
    this.#only = wanted === "all" ? undefined : registry.get(wanted).id;
    const page = lastEventId === undefined ? await this.#readFirstPage({ wanted, before }) : [];
    const received = lastEventId === undefined ? [] : parsePosition(lastEventId, registry, this.#only);
    for (const [id, position] of received) this.#positions.set(id, position);
    if (this.#only === undefined || this.#only === registry.own.id) this.#followOwn();
    const isNamed = ({ id }: RegisteredInstance) => lastEventId !== undefined && !this.#positions.has(id);
    const connected = this.#connect(isNamed).catch((error: unknown) => this.#fail(error));
    for (let index = 0; index < page.length; index += batchEntries)
      yield page.slice(index, index + batchEntries).map(({ daemonId, entry }) => this.#positioned(daemonId, entry));
    // Waits until the stream is connected to all daemons. The stored entries of all daemons are then sorted by time in the next batches.
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

  /** Returns the newest entries of all daemons. The stream of each daemon then begins after the daemon's newest entry. */
  async #readFirstPage({ wanted, before }: Pick<StreamCall, "wanted" | "before">): Promise<OwnedEntry<Item>[]> {
    const source = this.#source;
    if (!hasPages(source)) return [];
    const { registry } = this.#instances;
    const positions = before === undefined ? new Map<string, number>() : parsePosition(before, registry, this.#only);
    const responses = await askForPages(this.#instances, { wanted, positions }, source);
    const page = newestEntries(responses, source);
    for (const { daemonId, entry } of page) if (!this.#positions.has(daemonId)) this.#positions.set(daemonId, entry.id - 1);
    for (const { instance, response } of responses) {
      if ("problem" in response) continue;
      const last = response.result.entries.at(-1);
      if (!this.#positions.has(instance.id)) this.#positions.set(instance.id, last?.id ?? 0);
      this.#starts.set(instance.id, last?.id ?? 0);
    }
    return page;
  }

  #followOwn(): void {
    const { id } = this.#instances.registry.own;
    const afterId = this.#startOf(id);
    const batches = this.#source.follow(afterId > 0 ? { afterId } : {}, this.#signal);
    void this.#read(id, batches, () => true).catch((error: unknown) => this.#fail(error));
  }

  /** Connects to the daemons that run and are not connected. `isNamed` returns whether a notice names a new daemon. */
  async #connect(isNamed: (daemon: RegisteredInstance) => boolean): Promise<void> {
    const { registry } = this.#instances;
    this.#names = namesOf(registry);
    this.#keys = keysOf(registry);
    if (registry.others().length === 0) return;
    this.#acquireStream();
    const running = await registry.readLive();
    for (const { id } of registry.others()) {
      if (running.some((one) => one.id === id)) this.#gone.delete(id);
      else if (!this.#gone.has(id)) this.#gone.set(id, Date.now());
    }
    const live = running.filter(({ id }) => this.#only === undefined || id === this.#only);
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
    const afterId = this.#startOf(id);
    const from = afterId > 0 ? { lastEventId: String(afterId) } : {};
    let absence: unknown;
    const onError = (error: unknown) => {
      if (this.#source.isAbsent?.(error)) absence = error;
    };
    const follow = (client: ClientOf<Offered>, options: FollowOptions) => reporting(askToFollow(client, { ...options, ...from }), onError);
    const response = await this.#instances.client.follow(daemon, { key, offered, follow }, this.#signal);
    if (absence !== undefined && this.#only === id) return this.#fail(absence);
    if (this.#signal.aborted || absence !== undefined) return;
    if ("problem" in response) return this.#lose(id, response.problem);
    this.#starts.delete(id);
    const verb = this.#positions.has(id) ? "continue" : "begin";
    if (this.#lost.delete(id) || isNamed) this.#notify(id, `Entries of the daemon ${this.#nameOf(id)} ${verb} here.`);
    void this.#read(id, inBatches(response.result), this.#filterAfter(afterId)).then(
      () => this.#lose(id, "It ended the stream."),
      (error: unknown) => this.#lose(id, problemOf(error)),
    );
  }

  /** Returns the id after which the entries of a daemon begin. Returns 0 if they begin with the first entry that the filter selects. */
  #startOf(id: string): number {
    return this.#starts.get(id) ?? this.#positions.get(id) ?? 0;
  }

  /**
   * Returns a filter for the entries of another daemon. The filter rejects entries that the caller is not allowed to see, and entries that
   * the caller already has.
   */
  #filterAfter(afterId: number): (entry: Item) => boolean {
    let sentThroughId = afterId;
    return (entry) => {
      // Accepts each entry about the stream itself (time 0), and continues after its id. Its id can be below `afterId`, because the daemon
      // possibly does not know that id any more.
      if (this.#source.timeOf(entry) === 0) sentThroughId = Math.max(-1, entry.id - 1);
      return entry.id > sentThroughId && this.#source.isVisible(entry);
    };
  }

  async #read(id: string, batches: AsyncIterable<readonly Item[]>, isWanted: (entry: Item) => boolean): Promise<void> {
    const feed = new EntryFeed<Item>(id, () => this.#changes.notify());
    this.#feeds.set(id, feed);
    await feed.read(batches, isWanted, this.#signal);
  }

  /** Removes entries from the feeds, oldest first. Leaves entries in the feeds while older entries of another daemon can still arrive. */
  #take(): PositionedEntry<Item>[] {
    const batch: PositionedEntry<Item>[] = [];
    const { own } = this.#instances.registry;
    const nowMs = performance.now();
    let characters = 0;
    while (batch.length < batchEntries && characters < batchCharacters) {
      const feed = this.#nextFeed(nowMs);
      if (!feed?.head) break;
      const { entry, size } = feed.head;
      const restMs = waitMs(this.#feeds.values(), nowMs);
      // Entries without a time, such as those about the stream itself, do not wait.
      if (restMs > 0 && this.#source.timeOf(entry) > 0) {
        if (this.#timer === undefined) this.#timer = setTimeout(() => this.#wake(), restMs);
        break;
      }
      feed.take(nowMs);
      characters += size;
      const sent = this.#positioned(feed.daemonId, entry);
      if (!this.#isOmitted(entry, feed.daemonId)) batch.push(sent);
    }
    for (const [id, feed] of this.#feeds) if (feed.isFinished && id !== own.id) this.#feeds.delete(id);
    return batch;
  }

  /** Returns the feed with the oldest entry. If an entry has waited more than 2 s, returns the feed whose entry has waited longest. */
  #nextFeed(nowMs: number): EntryFeed<Item> | undefined {
    const feeds = [...this.#feeds.values()].filter(({ head }) => head !== undefined);
    const arrivedMs = ({ head }: EntryFeed<Item>) => head?.arrivedMs ?? nowMs;
    const time = ({ head }: EntryFeed<Item>) => (head ? this.#source.timeOf(head.entry) : 0);
    const [longest] = feeds.toSorted((one, other) => arrivedMs(one) - arrivedMs(other));
    if (longest && nowMs - arrivedMs(longest) > turnMs) return longest;
    return feeds.toSorted((one, other) => time(one) - time(other))[0];
  }

  #isOmitted(entry: Item, daemonId: string): boolean {
    const { isOmitted, timeOf } = this.#source;
    if (!isOmitted || this.#names.size === 1 || this.#only !== undefined) return false;
    const { registry } = this.#instances;
    const { own } = registry;
    const atMs = timeOf(entry);
    const isInStream = (id: string) => id === own.id || this.#feeds.has(id) || (this.#gone.get(id) ?? Infinity) <= atMs;
    const isComplete = [own, ...registry.others()].every(
      ({ id, startedAtMs }) => id === daemonId || (startedAtMs <= atMs && isInStream(id)),
    );
    return isOmitted(entry, { isOwn: daemonId === own.id, isComplete });
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
    const notice = this.#source.noticeOf?.(text);
    if (notice) this.#notices.push(this.#named(id, notice));
    this.#changes.notify();
  }

  #positioned(daemonId: string, entry: Item): PositionedEntry<Item> {
    this.#positions.set(daemonId, entry.id);
    return { id: this.#position(), event: this.#named(daemonId, entry) };
  }

  #position(): string {
    return formatPosition(this.#positions, this.#keys);
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

/** Yields the items of a stream. After an error of the stream, calls `onError` and then throws the error. */
async function* reporting<Item>(items: AsyncIterable<Item>, onError: (error: unknown) => void): AsyncGenerator<Item, void> {
  try {
    yield* items;
  } catch (error) {
    onError(error);
    throw error;
  }
}
