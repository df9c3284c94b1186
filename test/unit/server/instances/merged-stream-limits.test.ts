import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ApiError } from "../../../../src/shared/api-error.js";
import type { PositionedEntry } from "../../../../src/server/instances/merged-stream.js";
import { MergedStreams } from "../../../../src/server/instances/merged-streams.js";
import { at, collect, Daemon, type Item, named, open, reconnectedMs } from "./stream-daemons.js";

const isOfB = (batch: readonly PositionedEntry<Item>[]) => batch.some(({ event }) => event.instance === "b");

const readToEnd = async ({ feed }: Pick<ReturnType<typeof open>, "feed">) => {
  for await (const _ of feed) continue;
};

test("a merged stream sends all entries that are added while the first page is read", async () => {
  const daemons = named("a", "b");
  const [a, b] = daemons as [Daemon, Daemon];
  b.add(at(1, 100));
  b.onPage = () => {
    a.add(at(1, 90));
    b.add(at(2, 101), at(3, 50), at(4, 102), at(5, 103), at(6, 104));
  };
  const stream = collect(open(daemons));
  await expect.poll(() => stream.sent.length).toBe(7);
  expect(stream.texts().filter((text) => text.startsWith("b"))).toEqual(["b 1", "b 2", "b 3", "b 4", "b 5", "b 6"]);
});

test("a daemon whose clock is behind delays other daemons' entries by less than 1.5 s", async () => {
  const daemons = named("a", "b");
  const [a, b] = daemons as [Daemon, Daemon];
  const stream = collect(open(daemons, { hasPages: false }));
  await expect.poll(() => stream.sent.length).toBe(0);
  b.add(at(1, 1_000_000));
  let id = 0;
  const adding = setInterval(() => a.add(at((id += 1))), 20);
  onTestFinished(() => clearInterval(adding));
  const startedAtMs = performance.now();
  await expect.poll(stream.texts, { interval: 10, timeout: 5000 }).toContain("b 1");
  expect(performance.now() - startedAtMs).toBeLessThan(1500);
});

test("a slow client receives entries of each daemon despite the backlog of one daemon", async () => {
  const daemons = named("a", "b");
  const [a, b] = daemons as [Daemon, Daemon];
  let id = 0;
  const addBacklog = () => a.add(...Array.from({ length: 600 }, () => at((id += 1))));
  addBacklog();
  b.add(at(1, 1_000_000));
  const { feed } = open(daemons, { hasPages: false });
  let isReceived = false;
  for (let count = 0; count < 40 && !isReceived; count += 1) {
    isReceived = isOfB((await feed.next()).value ?? []);
    addBacklog();
    await delay(100);
  }
  expect(isReceived).toBe(true);
});

test("a merged stream limits the characters in a batch and in its buffered entries", async () => {
  const daemons = named("a", "b");
  const b = daemons[1] as Daemon;
  const text = "x".repeat(10_000);
  b.add(...Array.from({ length: 200 }, (_, index) => ({ ...at(index + 1), text })));
  const { feed } = open(daemons, { hasPages: false });
  const batch = (await feed.next()).value ?? [];
  expect(batch.length).toBeLessThan(10);
  await delay(50);
  expect(b.readCount).toBeLessThan(20);
});

test("the 33rd merged stream is rejected until another merged stream closes", async () => {
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

test(
  "a stream of one daemon counts toward the limit after another daemon registers",
  async () => {
    const streams = new MergedStreams();
    const daemons = named("a");
    daemons[0]?.add(at(1));
    const alone = Array.from({ length: 33 }, () => open(daemons, {}, streams));
    for (const { feed } of alone) await feed.next();
    daemons.push(new Daemon("b"));
    const ends = alone.map(async (stream) => readToEnd(stream).catch((error: unknown) => (error as ApiError).code));
    expect(await Promise.race([...ends, delay(reconnectedMs)])).toBe("TOO_MANY_STREAMS");
    expect(() => open(daemons, {}, streams)).toThrow(expect.objectContaining({ code: "TOO_MANY_STREAMS" }));
  },
  2 * reconnectedMs,
);

test("exactly 32 of 33 merged streams succeed if they open at the same time", async () => {
  const streams = new MergedStreams();
  const daemons = named("a", "b");
  daemons[0]?.add(at(1));
  const opened = Array.from({ length: 33 }, () => open(daemons, {}, streams));
  const results = await Promise.allSettled(opened.map(({ feed }) => feed.next()));
  expect(results.map(({ status }) => status)).toEqual([...Array.from({ length: 32 }, () => "fulfilled"), "rejected"]);
});

test("a stream of one selected daemon can resume from a plain entry ID", async () => {
  const daemons = named("a", "b");
  for (const daemon of daemons) daemon.add(at(1), at(2), at(3));
  const stream = collect(open(daemons, { wanted: "b", lastEventId: "2" }));
  await expect.poll(stream.texts).toEqual(["b 3"]);
  expect(stream.sent[0]?.id).toBe("id-b:3");
});

test(
  "a stream of another daemon ends when that daemon no longer has the worker",
  async () => {
    const daemons = named("a", "b");
    const b = daemons[1] as Daemon;
    b.add(at(1));
    const { feed } = open(daemons, { wanted: "b" });
    await feed.next();
    b.absence = new ApiError("WORKER_NOT_FOUND", "No worker app is installed.");
    b.stop();
    b.isAway = false;
    const readAll = async () => {
      for await (const _ of feed) continue;
    };
    await expect(readAll()).rejects.toBe(b.absence);
  },
  2 * reconnectedMs,
);

test("a merged stream omits entries that were sent before or are not permitted", async () => {
  const daemons = named("a", "b");
  const b = daemons[1] as Daemon;
  b.follow = async function* () {
    yield* [at(-1), at(3), at(4), at(5), { ...at(6), isHidden: true }, at(7)];
    await new Promise(() => undefined);
  };
  const stream = collect(open(daemons, { lastEventId: "id-a:0,id-b:4" }));
  await expect.poll(stream.texts).toEqual(["b 5", "b 7"]);
});

test("a merged stream omits a repeated entry only if it already contained all daemons", async () => {
  const repeat = { ...at(1, 100), isRepeat: true };
  const textsOf = async (change: (b: Daemon) => void) => {
    const daemons = named("a", "b");
    const [a, b] = daemons as [Daemon, Daemon];
    change(b);
    const stream = collect(open(daemons, { hasPages: false }));
    await delay(20);
    a.add(repeat, at(2, 101));
    await expect.poll(stream.texts).toContain("a 2");
    stream.stop();
    return stream.texts().filter((text) => text.startsWith("a"));
  };
  expect(await textsOf(() => undefined)).toEqual(["a 2"]);
  expect(await textsOf((b) => (b.startedAtMs = 101))).toEqual(["a 1", "a 2"]);
  expect(await textsOf((b) => (b.isAway = true))).toEqual(["a 1", "a 2"]);
});

test("a stream of one selected daemon does not mark other unreachable daemons as gone", async () => {
  const streams = new MergedStreams();
  const daemons = named("a", "b", "c");
  const [a, b, c] = daemons as [Daemon, Daemon, Daemon];
  c.isAway = true;
  b.add(at(1, 1));
  const all = collect(open(daemons, { hasPages: false }, streams));
  await open(daemons, { wanted: "b" }, streams).feed.next();
  const laterMs = Date.now() + 60_000;
  a.add({ ...at(1, laterMs), isRepeat: true }, at(2, laterMs + 1));
  await expect.poll(all.texts).toContain("a 2");
  expect(all.texts()).toContain("a 1");
});
