import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ChangeSignal } from "../../../../src/shared/change-signal.js";
import type { Operations } from "../../../../src/shared/client.js";
import type { KnownInstances } from "../../../../src/server/instances/ask-others.js";
import { MergedStreams, type PositionedEntry, type StreamSource } from "../../../../src/server/instances/merged-stream.js";

interface Item {
  readonly id: number;
  readonly at: number;
  readonly text?: string;
  readonly instance?: string | undefined;
}

/** A daemon whose entries a stream reads. */
class Daemon {
  readonly id: string;
  readonly name: string;
  readonly run = "run";
  readonly version = "1";
  readonly startedAtMs = 0;
  entries: Item[] = [];
  isAway = false;
  /** Number of entries that streams have read. */
  readCount = 0;
  readonly changes = new ChangeSignal();
  #ending = new AbortController();

  constructor(name: string) {
    [this.id, this.name] = [`id-${name}`, name];
  }

  add(...entries: readonly Item[]): void {
    this.entries.push(...entries);
    this.changes.notify();
  }

  /** Ends all streams. The daemon does not respond from now on. */
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

  async *follow(start: { afterId?: number | undefined; sinceMs?: number | undefined }, signal: AbortSignal): AsyncGenerator<Item, void> {
    const ending = this.#ending.signal;
    let lastId = start.afterId ?? 0;
    while (!signal.aborted && !ending.aborted) {
      const next = this.entries.find(({ id, at }) => id > lastId && at >= (start.sinceMs ?? 0));
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

/** Opens a stream of these daemons, of which the first sends it. */
function open(
  daemons: readonly Daemon[],
  { lastEventId, wanted = "all", hasPages = true }: OpenOptions = {},
  streams = new MergedStreams(),
) {
  const [own, ...others] = daemons as [Daemon, ...Daemon[]];
  const byId = (id: string) => daemons.find((daemon) => daemon.id === id) as Daemon;
  const instances = {
    registry: {
      own,
      others: () => others,
      readLive: async () => others,
      get: (name: string) => daemons.find((daemon) => daemon.name === name),
    },
    client: {
      ask: async ({ id }: Daemon, { call }: { call: (client: unknown, id: string) => Promise<unknown> }) =>
        byId(id).isAway ? { state: "unreachable", problem: "It is away." } : { result: await call({ id }, id) },
      follow: async ({ id }: Daemon, { follow }: { follow: (client: unknown, options: object) => unknown }, signal: AbortSignal) =>
        byId(id).isAway ? { state: "unreachable", problem: "It is away." } : { result: follow({ id }, { signal }) },
    },
  } as unknown as KnownInstances;
  const daemonOf = (client: unknown) => byId((client as { id: string }).id);
  const source: StreamSource<Operations, Item> = {
    key: "k",
    offered: {},
    timeOf: ({ at }) => at,
    follow: (start, signal) => inBatches(own.follow(start, signal)),
    askToFollow: (client, { lastEventId: after, sinceMs, signal }) =>
      daemonOf(client).follow({ afterId: after === undefined ? undefined : Number(after), sinceMs }, signal),
    noticeOf: (text, id) => ({ id, at: 0, text }),
    ...(hasPages && {
      limit: 3,
      read: async (before) => own.page(3, before),
      ask: async (client, before) => daemonOf(client).page(3, before),
    }),
  };
  const controller = new AbortController();
  onTestFinished(() => controller.abort());
  const feed = streams.feed(instances, source, { wanted, before: undefined, lastEventId })(controller.signal);
  return { feed, stop: () => controller.abort() };
}

async function* inBatches(items: AsyncIterable<Item>) {
  for await (const item of items) yield [item];
}

/** Collects what a stream sends. */
function collect({ feed, stop }: ReturnType<typeof open>) {
  const sent: PositionedEntry<Item>[] = [];
  void (async () => {
    for await (const batch of feed) sent.push(...batch);
  })();
  const texts = () => sent.map(({ event: { instance, id, text } }) => `${instance} ${text ?? id}`);
  return { sent, texts, stop };
}

const named = (...names: readonly string[]) => names.map((name) => new Daemon(name));
const at = (id: number, time = id): Item => ({ id, at: time });
/** Time in ms after which a stream connects again. */
const reconnectedMs = 8_000;

test("a stream begins with the newest entries of all daemons together, and continues with new ones", async () => {
  const [a, b, c] = named("a", "b", "c") as [Daemon, Daemon, Daemon];
  a.add(at(1), at(4));
  b.add(at(2), at(3));
  const stream = collect(open([a, b, c]));
  await expect.poll(stream.texts).toEqual(["b 2", "b 3", "a 4"]);
  c.add(at(5));
  a.add(at(6));
  await expect.poll(stream.texts).toEqual(["b 2", "b 3", "a 4", "c 5", "a 6"]);
  expect(stream.sent.map(({ id }) => id)).toEqual(["b:2,a:3,c:0", "b:3,a:3,c:0", "b:3,a:4,c:0", "b:3,a:4,c:5", "b:3,a:6,c:5"]);
});

test("a stream continues after each of its positions without lost or repeated entries", async () => {
  const daemons = named("a", "b");
  const [a, b] = daemons as [Daemon, Daemon];
  a.add(at(1), at(3), at(5));
  b.add(at(2), at(4), at(6));
  const first = collect(open(daemons));
  await expect.poll(first.texts).toEqual(["b 4", "a 5", "b 6"]);
  a.add(at(7));
  b.add(at(8));
  await expect.poll(() => first.sent.length).toBe(5);
  first.stop();
  for (const [index, { id }] of first.sent.entries()) {
    const again = collect(open(daemons, { lastEventId: id }));
    const expected = first.texts().slice(index + 1);
    await expect.poll(() => again.texts().toSorted()).toEqual(expected.toSorted());
    await delay(20);
    expect(again.sent).toHaveLength(expected.length);
    again.stop();
  }
});

test("daemons without a common first page send their stored entries in the order of times", async () => {
  const daemons = named("a", "b");
  daemons[0]?.add(at(1), at(4), at(5));
  daemons[1]?.add(at(2), at(3), at(6));
  const stream = collect(open(daemons, { hasPages: false }));
  await expect.poll(stream.texts).toEqual(["a 1", "b 2", "b 3", "a 4", "a 5", "b 6"]);
});

test(
  "a lost daemon is named once, and continues after its last entry when it responds again",
  async () => {
    const daemons = named("a", "b");
    const [a, b] = daemons as [Daemon, Daemon];
    b.add(at(1));
    const stream = collect(open(daemons));
    await expect.poll(stream.texts).toEqual(["b 1"]);
    b.stop();
    b.add(at(2));
    a.add(at(3));
    const lost = "b Entries of the daemon b are missing from here on. It ended the stream.";
    await expect.poll(() => stream.texts().toSorted()).toEqual(["a 3", "b 1", lost].toSorted());
    const position = stream.sent.at(-1)?.id;
    expect(position).toBe("b:1,a:3");

    // A client that continues meanwhile receives the notice and no entry twice.
    const again = collect(open(daemons, { lastEventId: position ?? "" }));
    await expect.poll(again.texts).toEqual(["b Entries of the daemon b are missing from here on. It is away."]);
    b.isAway = false;
    const back = ["b Entries of the daemon b continue here.", "b 2"];
    await expect.poll(() => stream.texts().slice(3), { timeout: reconnectedMs }).toEqual(back);
    await expect.poll(() => again.texts().slice(1), { timeout: reconnectedMs }).toEqual(back);
  },
  3 * reconnectedMs,
);

test("a daemon that a resumed position does not contain is named, and begins with its entries", async () => {
  const daemons = named("a", "b", "c");
  daemons[1]?.add(at(1));
  const stream = collect(open(daemons, { lastEventId: "a:5,c:0" }));
  await expect.poll(stream.texts).toEqual(["b Entries of the daemon b begin here.", "b 1"]);
});

test("a stream reads no further entries of a daemon while the client does not read", async () => {
  const daemons = named("a", "b");
  const b = daemons[1] as Daemon;
  b.add(...Array.from({ length: 1000 }, (_, index) => at(index + 1)));
  const { feed } = open(daemons, { hasPages: false });
  const seen: number[] = [];
  const readBatch = async () => seen.push(...((await feed.next()).value ?? []).map(({ event }: PositionedEntry<Item>) => event.id));
  await readBatch();
  await delay(50);
  expect(b.readCount).toBeLessThan(700);
  for (let count = 0; count < 1000 && seen.length < 1000; count += 1) await readBatch();
  expect(seen).toEqual(b.entries.map(({ id }) => id));
});

test("the stream of the only daemon has plain ids and no names", async () => {
  const [a] = named("a") as [Daemon];
  a.add(at(1));
  const stream = collect(open([a]));
  await expect.poll(() => stream.sent).toEqual([{ id: "1", event: at(1) }]);
});

test("a stream of one other daemon has only its entries", async () => {
  const daemons = named("a", "b", "c");
  for (const daemon of daemons) daemon.add(at(1));
  const stream = collect(open(daemons, { wanted: "b" }));
  await expect.poll(stream.texts).toEqual(["b 1"]);
  for (const daemon of daemons) daemon.add(at(2));
  await expect.poll(stream.texts).toEqual(["b 1", "b 2"]);
  expect(stream.sent.at(-1)?.id).toBe("b:2");
});

test("the 33rd stream is rejected, and a closed stream makes room for another", async () => {
  const streams = new MergedStreams();
  const daemons = named("a", "b");
  daemons[0]?.add(at(1));
  const openStreams = Array.from({ length: 32 }, () => open(daemons, {}, streams));
  for (const { feed } of openStreams) await feed.next();
  expect(() => open(daemons, {}, streams)).toThrow(expect.objectContaining({ code: "TOO_MANY_STREAMS" }));
  open(daemons.slice(0, 1), {}, streams);
  openStreams[0]?.stop();
  await openStreams[0]?.feed.return(undefined);
  open(daemons, {}, streams);
});
