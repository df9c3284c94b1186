import { expect, test } from "vitest";
import { ApiError } from "../../../../src/shared/api-error.js";
import { positionBefore, positionPattern } from "../../../../src/shared/contract/entry-position.js";
import type { KnownInstances } from "../../../../src/server/instances/ask-others.js";
import type { Operations } from "../../../../src/shared/client.js";
import { readEntries, type EntrySource } from "../../../../src/server/instances/merged-entries.js";

interface Item {
  readonly id: number;
  readonly at: number;
  readonly instance?: string | undefined;
}

/** Three daemons with entries. `a` reads them, and asks `b` and `c`. */
function daemons(entriesOf: Readonly<Record<string, readonly Item[]>>, names: readonly string[] = ["a", "b", "c"]) {
  const away = new Set<string>();
  const asked: string[] = [];
  const registered = names.map((name, index) => ({ id: `id-${index}`, name, run: "run", version: "1", startedAtMs: 0 }));
  const [own, ...others] = registered as [(typeof registered)[number], ...typeof registered];
  const pageOf = (id: string, limit: number, before = Infinity) => {
    asked.push(id);
    const matching = (entriesOf[id] ?? []).filter((entry) => entry.id < before);
    return { entries: matching.slice(-limit), hasMore: matching.length > limit };
  };
  const instances = {
    registry: {
      own,
      others: () => others,
      readLive: async () => others,
      get: (name: string) => registered.find((one) => one.name === name || one.id === name),
    },
    client: {
      ask: async ({ id }: { id: string }, { call }: { call: (client: unknown, id: string) => Promise<unknown> }) =>
        away.has(id) ? { state: "unreachable", problem: "It is away." } : { result: await call({ id }, id) },
    },
  } as unknown as KnownInstances;
  const read = async (before: string | undefined, { limit = 3, wanted = "all" } = {}) => {
    const source: EntrySource<Operations, Item> = {
      key: "k",
      offered: {},
      limit,
      timeOf: ({ at }) => at,
      read: async (beforeId) => pageOf(own.id, limit, beforeId),
      ask: async (client, beforeId) => pageOf((client as unknown as { id: string }).id, limit, beforeId),
    };
    return readEntries(instances, { wanted, before }, source);
  };
  return { read, away, asked, instances };
}

/** Returns reproducible numbers from 0 to below 1. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** Returns the entries of 3 daemons whose ids and times increase, with equal times among them. */
function randomEntries(seed: number): Record<string, Item[]> {
  const next = numbers(seed);
  return Object.fromEntries(
    ["id-0", "id-1", "id-2"].map((id) => {
      let [entryId, at] = [Math.floor(next() * 1000), 0];
      const entries = Array.from({ length: Math.floor(next() * 30) }, () => {
        entryId += 1 + Math.floor(next() * 3);
        at += Math.floor(next() * 4);
        return { id: entryId, at };
      });
      return [id, entries];
    }),
  );
}

const nameOf: Readonly<Record<string, string>> = { "id-0": "a", "id-1": "b", "id-2": "c" };
const keysOf = (entries: readonly Item[]) => entries.map(({ id, instance }) => `${instance} ${id}`);
const allOf = (entriesOf: Readonly<Record<string, readonly Item[]>>) =>
  Object.entries(entriesOf).flatMap(([id, entries]) => entries.map((entry) => ({ ...entry, instance: nameOf[id] })));

test("pages of 3 daemons contain every entry exactly once and in the order of times", async () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const entriesOf = randomEntries(seed);
    const { read } = daemons(entriesOf);
    const limit = 1 + (seed % 7);
    let [before, all]: [string | undefined, Item[]] = [undefined, []];
    for (let hasMore = true; hasMore;) {
      const page = await read(before, { limit });
      expect(page.entries.length).toBeLessThanOrEqual(limit);
      all = [...page.entries, ...all];
      ({ hasMore, before } = page);
      expect(before === undefined || positionPattern.test(before)).toBe(true);
      expect(before !== undefined).toBe(hasMore);
    }
    expect(keysOf(all).toSorted()).toEqual(keysOf(allOf(entriesOf)).toSorted());
    expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).toSorted((one, other) => one - other));
  }
});

test("a client can continue before the entries that it has, without the position of a page", async () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const entriesOf = randomEntries(seed);
    const { read } = daemons(entriesOf);
    let all: Item[] = [];
    for (let hasMore = true; hasMore;) {
      const page = await read(positionBefore(all), { limit: 4 });
      all = [...page.entries, ...all];
      ({ hasMore } = page);
    }
    expect(keysOf(all).toSorted()).toEqual(keysOf(allOf(entriesOf)).toSorted());
  }
});

test("a daemon that is away during a page is named, and its entries follow later", async () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const entriesOf = randomEntries(seed);
    const { read, away } = daemons(entriesOf);
    let [before, all, pages]: [string | undefined, Item[], number] = [undefined, [], 0];
    do {
      away.clear();
      if (pages % 3 === seed % 3) away.add("id-1");
      const page = await read(before, { limit: 3 });
      const isAway = page.instances?.find(({ id }) => id === "id-1")?.problem !== undefined;
      expect(page.entries.filter(({ instance }) => instance === "b" && isAway)).toEqual([]);
      expect(isAway && !away.has("id-1")).toBe(false);
      all = [...page.entries, ...all];
      ({ before } = page);
      pages += 1;
    } while (before !== undefined);
    expect(keysOf(all).toSorted()).toEqual(keysOf(allOf(entriesOf)).toSorted());
  }
});

test("a clock that is set back loses no entry", async () => {
  const { read } = daemons({
    "id-0": [5, 1, 9, 2].map((at, index) => ({ id: index + 1, at })),
    "id-1": [3, 4].map((at, index) => ({ id: index + 1, at })),
  });
  const first = await read(undefined);
  const second = await read(first.before);
  expect([...keysOf(second.entries), ...keysOf(first.entries)].toSorted()).toEqual(["a 1", "a 2", "a 3", "a 4", "b 1", "b 2"]);
});

test("the only daemon responds without further fields, and a plain id continues only its entries", async () => {
  const entries = [1, 2, 3].map((id) => ({ id, at: id }));
  const alone = daemons({ "id-0": entries }, ["a"]);
  expect(await alone.read(undefined)).toEqual({ entries, hasMore: false });
  expect(await alone.read(undefined, { limit: 2 })).toEqual({ entries: entries.slice(1), hasMore: true, before: "2" });
  const shared = daemons({ "id-0": entries, "id-1": entries });
  expect(await shared.read("3", { limit: 1 })).toEqual({ entries: entries.slice(1, 2), hasMore: true, before: "2" });
  expect(shared.asked).toEqual(["id-0"]);
  expect(await shared.read(undefined, { wanted: "self" })).toEqual({ entries, hasMore: false });
});

test("daemons with the same name are named by their ids", async () => {
  const { read } = daemons({ "id-0": [{ id: 1, at: 1 }], "id-1": [{ id: 2, at: 2 }] }, ["a", "a"]);
  const { entries, before } = await read(undefined, { limit: 1 });
  expect([keysOf(entries), before]).toEqual([["id-1 2"], "id-0:2,id-1:0"]);
  expect(keysOf((await read(before)).entries)).toEqual(["id-0 1"]);
});

test("a list is an error only if no daemon has such entries", async () => {
  const { instances } = daemons({});
  const missing = new ApiError("WORKER_NOT_FOUND", "No worker app is installed.");
  const source = {
    key: "k",
    offered: {},
    limit: 1,
    timeOf: ({ at }: Item) => at,
    read: () => Promise.reject(missing),
    ask: () => Promise.reject(missing),
    isAbsent: (error: unknown) => error === missing,
  };
  const call = { wanted: "all", before: undefined };
  await expect(readEntries(instances, call, source)).rejects.toBe(missing);
  const page = await readEntries(instances, call, { ...source, ask: async () => ({ entries: [{ id: 1, at: 1 }], hasMore: false }) });
  expect(keysOf(page.entries)).toEqual(["b 1"]);
});
