import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { ApiError } from "../../../../src/shared/api-error.js";
import { ChangeSignal } from "../../../../src/shared/change-signal.js";
import type { Operations } from "../../../../src/shared/client.js";
import type { KnownInstances } from "../../../../src/server/instances/ask-others.js";
import type { PositionedEntry, StreamSource } from "../../../../src/server/instances/merged-stream.js";
import { MergedStreams } from "../../../../src/server/instances/merged-streams.js";

export interface Item {
  readonly id: number;
  readonly isHidden?: boolean;
  readonly isRepeat?: boolean;
  readonly at: number;
  readonly text?: string;
  readonly instance?: string | undefined;
}

/** A daemon whose entries a stream reads. */
export class Daemon {
  readonly id: string;
  readonly name: string;
  readonly run = "run";
  readonly version = "1";
  startedAtMs = 0;
  /** Error that `follow` throws. Set if the daemon has no entries of the requested kind. */
  absence: ApiError | undefined;
  entries: Item[] = [];
  isAway = false;
  /** Number of entries that streams have read. */
  readCount = 0;
  /** Called after the daemon has read a page. */
  onPage = () => {};
  readonly changes = new ChangeSignal();
  #ending = new AbortController();

  constructor(name: string) {
    [this.id, this.name] = [`id-${name}`, name];
  }

  add(...entries: readonly Item[]): void {
    this.entries.push(...entries);
    this.changes.notify();
  }

  /** Ends all streams. After this call, the daemon does not respond. */
  stop(): void {
    this.isAway = true;
    this.#ending.abort();
    this.#ending = new AbortController();
    this.changes.notify();
  }

  page(limit: number, before = Infinity) {
    const matching = this.entries.filter(({ id }) => id < before);
    return { entries: matching.slice(-limit), hasMore: matching.length > limit };
  }

  async *follow(start: { afterId?: number | undefined }, signal: AbortSignal): AsyncGenerator<Item, void> {
    if (this.absence) throw this.absence;
    const ending = this.#ending.signal;
    let lastId = start.afterId ?? 0;
    while (!signal.aborted && !ending.aborted) {
      const next = this.entries.find(({ id }) => id > lastId);
      if (next) {
        lastId = next.id;
        this.readCount += 1;
        yield next;
      } else await this.changes.changed(signal);
    }
  }
}

interface OpenOptions {
  readonly lastEventId?: string;
  readonly wanted?: string;
  readonly hasPages?: boolean;
}

/** Opens a stream of these daemons. The first daemon sends the stream. */
export function open(
  daemons: readonly Daemon[],
  { lastEventId, wanted = "all", hasPages = true }: OpenOptions = {},
  streams = new MergedStreams(),
) {
  const [own] = daemons as [Daemon, ...Daemon[]];
  const byId = (id: string) => daemons.find((daemon) => daemon.id === id) as Daemon;
  const instances = {
    registry: {
      own,
      others: () => daemons.slice(1),
      readLive: async () => daemons.slice(1),
      get: async (name: string) => daemons.find((daemon) => daemon.name === name),
      isReplaced: () => false,
    },
    client: {
      ask: async ({ id }: Daemon, { call }: { call: (client: unknown, id: string) => Promise<unknown> }) =>
        byId(id).isAway ? { state: "unreachable", problem: "It is away." } : { result: await call({ id }, id) },
      follow: async (
        { id }: Daemon,
        { follow }: { follow: (client: unknown, options: object) => AsyncGenerator<Item> },
        signal: AbortSignal,
      ) => (byId(id).isAway ? { state: "unreachable", problem: "It is away." } : startedStream(follow({ id }, { signal }))),
    },
  } as unknown as KnownInstances;
  const daemonOf = (client: unknown) => byId((client as { id: string }).id);
  const source: StreamSource<Operations, Item> = {
    key: "k",
    offered: {},
    timeOf: ({ at }) => at,
    isVisible: ({ isHidden }) => isHidden !== true,
    follow: (start, signal) => inBatches(own.follow(start, signal)),
    askToFollow: (client, { lastEventId: after, signal }) =>
      daemonOf(client).follow({ afterId: after === undefined ? undefined : Number(after) }, signal),
    noticeOf: (text) => ({ id: 0, at: 0, text }),
    isAbsent: (error) => error instanceof ApiError,
    isOmitted: ({ isRepeat }, { isComplete }) => isRepeat === true && isComplete,
    ...(hasPages && {
      limit: 3,
      read: async (before) => own.page(3, before),
      ask: async (client, { before, limit }) => {
        const daemon = daemonOf(client);
        const page = daemon.page(limit, before);
        daemon.onPage();
        return page;
      },
    }),
  };
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const feed = streams.feed(instances, source, { wanted, before: undefined, lastEventId })(controller.signal);
  return { feed, stop: () => controller.abort() };
}

/** Waits 5 ms for an error with which a daemon rejects a stream. */
async function startedStream(events: AsyncGenerator<Item>) {
  const first = events.next();
  try {
    await Promise.race([first, delay(5)]);
  } catch {
    return { state: "unreachable", problem: "It rejects the request." };
  }
  async function* all() {
    const { done, value } = await first;
    if (!done) yield value;
    if (!done) yield* events;
  }
  return { result: all() };
}

async function* inBatches(items: AsyncIterable<Item>) {
  for await (const item of items) yield [item];
}

/** Collects the entries that a stream sends. */
export function collect({ feed, stop }: ReturnType<typeof open>) {
  const sent: PositionedEntry<Item>[] = [];
  void (async () => {
    for await (const batch of feed) sent.push(...batch);
  })();
  const texts = () => sent.map(({ event: { instance, id, text } }) => `${instance} ${text ?? id}`);
  return { sent, texts, stop };
}

export const named = (...names: readonly string[]) => names.map((name) => new Daemon(name));
export const at = (id: number, time = id): Item => ({ id, at: time });
/** Maximum time in ms until a stream connects again to a lost daemon. */
export const reconnectedMs = 8_000;
