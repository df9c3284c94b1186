import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { PositionedEntry } from "../../../../src/server/instances/merged-stream.js";
import { at, collect, type Daemon, type Item, named, open, reconnectedMs } from "./stream-daemons.js";

test("a merged stream sends the newest stored entries first, and then new entries", async () => {
  const [a, b, c] = named("a", "b", "c") as [Daemon, Daemon, Daemon];
  a.add(at(1), at(4));
  b.add(at(2), at(3));
  const stream = collect(open([a, b, c]));
  await expect.poll(stream.texts).toEqual(["b 2", "b 3", "a 4"]);
  c.add(at(5));
  a.add(at(6));
  await expect.poll(stream.texts).toEqual(["b 2", "b 3", "a 4", "c 5", "a 6"]);
  expect(stream.sent.map(({ id }) => id)).toEqual([
    "id-b:2,id-a:3,id-c:0",
    "id-b:3,id-a:3,id-c:0",
    "id-b:3,id-a:4,id-c:0",
    "id-b:3,id-a:4,id-c:5",
    "id-b:3,id-a:6,id-c:5",
  ]);
});

test("a merged stream can resume at any position without lost or repeated entries", async () => {
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

test("a merged stream without a first page sends stored entries in order of time", async () => {
  const daemons = named("a", "b");
  daemons[0]?.add(at(1), at(4), at(5));
  daemons[1]?.add(at(2), at(3), at(6));
  const stream = collect(open(daemons, { hasPages: false }));
  await expect.poll(stream.texts).toEqual(["a 1", "b 2", "b 3", "a 4", "a 5", "b 6"]);
});

test(
  "a merged stream reports a lost daemon once, and later resumes its entries",
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
    expect(position).toBe("id-b:1,id-a:3");

    // A client that resumes while the daemon is lost receives the notice and no entry twice.
    const again = collect(open(daemons, { lastEventId: position ?? "" }));
    await expect.poll(again.texts).toEqual(["b Entries of the daemon b are missing from here on. It is away."]);
    b.isAway = false;
    const back = ["b Entries of the daemon b continue here.", "b 2"];
    await expect.poll(() => stream.texts().slice(3), { timeout: reconnectedMs }).toEqual(back);
    await expect.poll(() => again.texts().slice(1), { timeout: reconnectedMs }).toEqual(back);
  },
  3 * reconnectedMs,
);

test("a resumed stream reports a daemon that the position lacks, and sends its entries", async () => {
  const daemons = named("a", "b", "c");
  daemons[1]?.add(at(1));
  const stream = collect(open(daemons, { lastEventId: "a:5,c:0" }));
  await expect.poll(stream.texts).toEqual(["b Entries of the daemon b begin here.", "b 1"]);
});

test("a merged stream stops reading from a daemon while the client does not read", async () => {
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

test("the stream of a single daemon has plain entry IDs and no daemon names", async () => {
  const [a] = named("a") as [Daemon];
  a.add(at(1));
  const stream = collect(open([a]));
  await expect.poll(() => stream.sent).toEqual([{ id: "1", event: at(1) }]);
});

test("a stream of one selected daemon contains only the entries of that daemon", async () => {
  const daemons = named("a", "b", "c");
  for (const daemon of daemons) daemon.add(at(1));
  const stream = collect(open(daemons, { wanted: "b" }));
  await expect.poll(stream.texts).toEqual(["b 1"]);
  for (const daemon of daemons) daemon.add(at(2));
  await expect.poll(stream.texts).toEqual(["b 1", "b 2"]);
  expect(stream.sent.at(-1)?.id).toBe("id-b:2");
});
