import { expect, test } from "vitest";
import { ApiError } from "../../../../src/shared/api-error.js";
import { positionBefore, positionPattern } from "../../../../src/shared/contract/entry-position.js";
import type { KnownInstances } from "../../../../src/server/instances/ask-others.js";
import type { Operations } from "../../../../src/shared/client.js";
import { formatPosition, keysOf as keysOfDaemons, parsePosition } from "../../../../src/server/instances/entry-position.js";
import { readEntries, type EntrySource } from "../../../../src/server/instances/merged-entries.js";

interface Item {
  readonly id: number;
  readonly isHidden?: boolean;
  readonly text?: string;
  readonly at: number;
  readonly instance?: string | undefined;
}

/** Creates three daemons with entries. Daemon `a` reads its own entries and requests the entries of `b` and `c`. */
function daemons(entriesOf: Readonly<Record<string, readonly Item[]>>, names: readonly string[] = ["a", "b", "c"]) {
  const away = new Set<string>();
  const gone = new Set<string>();
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
      readLive: async () => others.filter(({ id }) => !gone.has(id)),
      get: async (name: string) => registered.find((one) => one.name === name || one.id === name),
      isReplaced: () => false,
    },
    client: {
      ask: async ({ id }: { id: string }, { call }: { call: (client: unknown, id: string) => Promise<unknown> }) =>
        away.has(id)
          ? { state: "unreachable", problem: "It is away." }
          : call({ id }, id).then(
              (result) => ({ result }),
              (error: unknown) => ({ state: "unreachable", problem: String(error) }),
            ),
    },
  } as unknown as KnownInstances;
  const read = async (before: string | undefined, { limit = 3, wanted = "all" } = {}) => {
    const source: EntrySource<Operations, Item> = {
      key: "k",
      offered: {},
      limit,
      timeOf: ({ at }) => at,
      isVisible: ({ isHidden }) => isHidden !== true,
      read: async (beforeId) => pageOf(own.id, limit, beforeId),
      ask: async (client, page) => pageOf((client as unknown as { id: string }).id, page.limit, page.before),
    };
    return readEntries(instances, { wanted, before }, source);
  };
  return { read, away, gone, asked, instances };
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

test("merged pages contain every entry of 3 daemons exactly once, in order of time", async () => {
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

test("a client can compute the position of the next page from its received entries", async () => {
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

test("a merged page names an unreachable daemon, and a later page has its entries", async () => {
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

test("merged pages contain every entry even if a daemon's clock was set back", async () => {
  const { read } = daemons({
    "id-0": [5, 1, 9, 2].map((at, index) => ({ id: index + 1, at })),
    "id-1": [3, 4].map((at, index) => ({ id: index + 1, at })),
  });
  const first = await read(undefined);
  const second = await read(first.before);
  expect([...keysOf(second.entries), ...keysOf(first.entries)].toSorted()).toEqual(["a 1", "a 2", "a 3", "a 4", "b 1", "b 2"]);
});

test("a page of one daemon has no daemon names, and is requested by a plain entry ID", async () => {
  const entries = [1, 2, 3].map((id) => ({ id, at: id }));
  const alone = daemons({ "id-0": entries }, ["a"]);
  expect(await alone.read(undefined)).toEqual({ entries, hasMore: false });
  expect(await alone.read(undefined, { limit: 2 })).toEqual({ entries: entries.slice(1), hasMore: true });
  const shared = daemons({ "id-0": entries, "id-1": entries });
  expect(await shared.read("3", { limit: 1 })).toEqual({ entries: entries.slice(1, 2), hasMore: true, before: "2" });
  expect(shared.asked).toEqual(["id-0"]);
  expect(await shared.read(undefined, { wanted: "self" })).toEqual({ entries, hasMore: false });
});

test("merged entries name a daemon by its ID if another daemon has the same name", async () => {
  const { read } = daemons({ "id-0": [{ id: 1, at: 1 }], "id-1": [{ id: 2, at: 2 }] }, ["a", "a"]);
  const { entries, before } = await read(undefined, { limit: 1 });
  expect([keysOf(entries), before]).toEqual([["id-1 2"], "id-0:2,id-1:0"]);
  expect(keysOf((await read(before)).entries)).toEqual(["id-0 1"]);
});

test("a merged page fails with WORKER_NOT_FOUND only if no daemon has the worker", async () => {
  const { instances } = daemons({});
  const missing = new ApiError("WORKER_NOT_FOUND", "No worker app is installed.");
  const source = {
    key: "k",
    offered: {},
    limit: 1,
    timeOf: ({ at }: Item) => at,
    isVisible: () => true,
    read: () => Promise.reject(missing),
    ask: () => Promise.reject(missing),
    isAbsent: (error: unknown) => error === missing,
  };
  const call = { wanted: "all", before: undefined };
  await expect(readEntries(instances, call, source)).rejects.toBe(missing);
  const page = await readEntries(instances, call, { ...source, ask: async () => ({ entries: [{ id: 1, at: 1 }], hasMore: false }) });
  expect(keysOf(page.entries)).toEqual(["b 1"]);
});

const pagesOf = (...ids: readonly number[]) => ({ entries: ids.map((id) => ({ id, at: id })), hasMore: true });

test("a merged page omits an invalid page of another daemon and reports the problem", async () => {
  const { instances } = daemons({}, ["a", "b"]);
  const own = { entries: [{ id: 7, at: 7 }], hasMore: false };
  const invalid = [pagesOf(), pagesOf(0), pagesOf(-3, 2), pagesOf(2, 1), pagesOf(2, 2), pagesOf(1, 2, 3, 4), pagesOf(10), pagesOf(11)];
  for (const page of invalid) {
    const source = {
      key: "k",
      offered: {},
      limit: 3,
      timeOf: ({ at }: Item) => at,
      isVisible: () => true,
      read: async () => own,
      ask: async () => page,
    };
    const result = await readEntries(instances, { wanted: "all", before: "id-0:20,id-1:10" }, source);
    expect(keysOf(result.entries)).toEqual(["a 7"]);
    expect(result.instances?.[1]).toMatchObject({ id: "id-1", problem: expect.stringContaining("UnexpectedAnswerError") });
  }
});

test("hasMore is true if a running daemon is unreachable, and false if it has stopped", async () => {
  const { read, away, gone } = daemons({ "id-0": [{ id: 1, at: 1 }], "id-1": [{ id: 2, at: 2 }] }, ["a", "b"]);
  away.add("id-1");
  expect(await read(undefined)).toMatchObject({ hasMore: true, before: "id-0:0", instances: [{}, { problem: "It is away." }] });
  gone.add("id-1");
  const page = await read(undefined);
  expect(page).toMatchObject({ hasMore: false, instances: [{}, { problem: "It was stopped, or has sent no heartbeat for 30 s." }] });
  expect(page).not.toHaveProperty("before");
});

test("merged pages omit only the entries that the caller is not permitted to see", async () => {
  const entries = Array.from({ length: 9 }, (_, index) => ({ id: index + 1, at: index, isHidden: index % 4 !== 0 }));
  const { read } = daemons({ "id-1": entries }, ["a", "b"]);
  let [before, all]: [string | undefined, Item[]] = [undefined, []];
  for (let hasMore = true; hasMore;) {
    const page: Awaited<ReturnType<typeof read>> = await read(before, { limit: 2 });
    all = [...page.entries, ...all];
    ({ hasMore, before } = page);
  }
  expect(keysOf(all)).toEqual(["b 1", "b 5", "b 9"]);
});

test("a daemon requests at most 1,000 entries per call from another daemon", async () => {
  const entries = Array.from({ length: 2300 }, (_, index) => ({ id: index + 1, at: index }));
  const { read, asked } = daemons({ "id-1": entries }, ["a", "b"]);
  const page = await read(undefined, { limit: 2200 });
  expect(page.entries.map(({ id }) => id)).toEqual(entries.slice(100).map(({ id }) => id));
  expect(page.hasMore).toBe(true);
  expect(asked.filter((id) => id === "id-1")).toHaveLength(3);
});

const entriesAt = (offset: number, text: string) =>
  Array.from({ length: 2500 }, (_, index) => ({ id: index + 1, at: 2 * index + offset, text }));

test("a merged page ends after 16 Mi characters of one daemon; the next page continues", async () => {
  const { read } = daemons({ "id-0": entriesAt(0, ""), "id-1": entriesAt(1, "x".repeat(9000)) }, ["a", "b"]);
  const newest = await read(undefined, { limit: 10_000 });
  const older = await read(newest.before, { limit: 10_000 });
  expect([newest.entries.length, newest.hasMore, older.entries.length, older.hasMore]).toEqual([3999, true, 1001, false]);
  expect([...older.entries, ...newest.entries].map(({ at }) => at)).toEqual(Array.from({ length: 5000 }, (_, at) => at));
});

const none = () => false;

test("a position has 8 characters of each daemon's ID, or all if 8 are ambiguous", () => {
  const [own, one, other] = ["00000000-0", "11111111-1", "11111111-2"].map((id) => ({ id, name: `name of ${id}` }));
  const registry = { own, others: () => [one, other], isReplaced: none } as unknown as KnownInstances["registry"];
  const keys = keysOfDaemons(registry);
  expect([...keys.values()]).toEqual(["00000000", "11111111-1", "11111111-2"]);
  const positions = new Map([
    ["00000000-0", 3],
    ["11111111-2", 4],
  ]);
  const text = formatPosition(positions, keys);
  expect(text).toBe("00000000:3,11111111-2:4");
  const renamed = { own: { ...own, name: "x" }, others: () => [other], isReplaced: none } as unknown as KnownInstances["registry"];
  expect(parsePosition(text, renamed)).toEqual(positions);
  expect(parsePosition("x:5,unknown:6", renamed)).toEqual(new Map([["00000000-0", 5]]));
});

test("positionBefore ignores the notices among the entries", () => {
  const notice = { id: 0, instance: "b", isNotice: true };
  expect(positionBefore([notice, { id: 4, instance: "b" }, { id: 5, instance: "b" }])).toBe("b:4");
  expect(positionBefore([notice])).toBeUndefined();
});
