import { UnexpectedAnswerError, type ClientOf, type Operations } from "../../shared/client.js";
import { asksOthers, collectResponses, resultsOf, toListedInstances, type KnownInstances, type ListedResponse } from "./ask-others.js";
import { formatPosition, isPlainPosition, keysOf, namesOf, parsePosition, type EntryPositions } from "./entry-position.js";

/**
 * Maximum number of entries in one response of another daemon. With this number, a response stays below the size and time limits of a call.
 */
const mostPerResponse = 1_000;
/**
 * Total length in characters (as JSON) of the entries from one other daemon. At this length, this daemon requests no further entries from
 * that daemon.
 */
const mostCharacters = 16 * 1024 * 1024;
/** Time in ms after which this daemon requests no further entries from another daemon: half of the time limit of a call. */
const askingMs = 1_000;

/** An entry of a list or stream. Within the entries of one daemon, the ids increase. */
export interface Entry {
  readonly id: number;
  readonly instance?: string | undefined;
}

/** Entries of one daemon, oldest first. `hasMore` is true if older entries match. */
export interface EntryPage<Item extends Entry> {
  readonly entries: readonly Item[];
  readonly hasMore: boolean;
}

/** The page of entries that this daemon requests from another daemon. */
export interface AskedPage {
  readonly before: number | undefined;
  /** Maximum number of entries. */
  readonly limit: number;
}

/** Entries that this daemon and other daemons have, such as the audit log, with the filter of a caller. */
export interface EntrySource<Offered extends Operations, Item extends Entry> {
  /** Key of the caller. */
  readonly key: string;
  readonly offered: Offered;
  /** Maximum number of entries of a page. */
  readonly limit: number;
  /** Returns the time of an entry in Unix milliseconds. */
  readonly timeOf: (entry: Item) => number;
  /** Returns whether the caller is allowed to see an entry of another daemon. */
  readonly isVisible: (entry: Item) => boolean;
  /** Reads the newest entries of this daemon with an id below `before`. */
  readonly read: (before: number | undefined) => Promise<EntryPage<Item>>;
  /** Reads the newest entries of another daemon with an id below `before`, at most `limit`. */
  readonly ask: (client: ClientOf<Offered>, page: AskedPage) => Promise<EntryPage<Item>>;
  /** Returns whether an error only means that the daemon has no such entries. */
  readonly isAbsent?: (error: unknown) => boolean;
}

/** A page of the entries of several daemons. */
export interface MergedPage<Item extends Entry> {
  readonly entries: Item[];
  readonly hasMore: boolean;
  readonly before?: string;
  readonly instances?: { name: string; id: string; problem?: string }[];
}

/**
 * `error` is the reason why the daemon has no such entries. `firstId` is the id of the first received entry, even if the caller is not
 * allowed to see this entry.
 */
type ReceivedPage<Item extends Entry> = EntryPage<Item> & { readonly error?: Error; readonly firstId?: number | undefined };
export type ReceivedPages<Item extends Entry> = readonly ListedResponse<ReceivedPage<Item>>[];

/**
 * Returns the newest entries of the requested daemons, oldest first. `wanted` is `all`, `self`, or the name or id of a daemon. Without
 * other daemons, the page has no fields about daemons. Throws INSTANCE_NOT_FOUND or INSTANCE_UNAVAILABLE.
 */
export async function readEntries<Offered extends Operations, Item extends Entry>(
  instances: KnownInstances,
  { wanted, before }: { readonly wanted: string; readonly before: string | undefined },
  source: EntrySource<Offered, Item>,
): Promise<MergedPage<Item>> {
  const { registry } = instances;
  // A position without a daemon is from a list that contains only the entries of this daemon.
  const isPlain = before !== undefined && isPlainPosition(before);
  if (!asksOthers(instances, wanted) || (wanted === "all" && isPlain)) {
    const position = before === undefined ? undefined : parsePosition(before, registry).get(registry.own.id);
    const { entries, hasMore } = await source.read(position);
    const [first] = entries;
    const isOnly = registry.others().length === 0;
    return { entries: [...entries], hasMore, ...(hasMore && first && !isOnly && { before: String(first.id) }) };
  }
  const plainId = wanted === "all" ? registry.own.id : registry.get(wanted).id;
  const positions: EntryPositions = before === undefined ? new Map() : parsePosition(before, registry, plainId);
  const responses = await askForPages(instances, { wanted, positions }, source);
  return mergePages(responses, { positions, source, names: namesOf(registry), keys: keysOf(registry) });
}

/** Reads one page from each requested daemon. If every daemon that responds lacks such entries, throws the error of one of them. */
export async function askForPages<Offered extends Operations, Item extends Entry>(
  instances: KnownInstances,
  { wanted, positions }: { readonly wanted: string; readonly positions: EntryPositions },
  source: EntrySource<Offered, Item>,
): Promise<ReceivedPages<Item>> {
  const { key, offered, read, isAbsent } = source;
  const orAbsent = (page: Promise<EntryPage<Item>>): Promise<ReceivedPage<Item>> =>
    page.catch((error: unknown) => {
      if (error instanceof Error && isAbsent?.(error)) return { entries: [], hasMore: false, error };
      throw error;
    });
  const call = (client: ClientOf<Offered>, id: string) => orAbsent(askForPage(client, positions.get(id), source));
  const readOwn = () => orAbsent(read(positions.get(instances.registry.own.id)));
  const responses = await collectResponses(instances, wanted, { request: { key, offered, call }, readOwn });
  const results = resultsOf(responses);
  const [absent] = results;
  if (absent?.error && results.every(({ error }) => error !== undefined)) throw absent.error;
  return responses;
}

/**
 * Requests the newest visible entries of another daemon with ids below `before`, in several responses. Returns fewer than `limit` entries,
 * with `hasMore`, if the entries are too long or the daemon sends them slowly.
 */
async function askForPage<Offered extends Operations, Item extends Entry>(
  client: ClientOf<Offered>,
  before: number | undefined,
  { ask, limit, isVisible }: EntrySource<Offered, Item>,
): Promise<ReceivedPage<Item>> {
  const startedMs = performance.now();
  const pages: (readonly Item[])[] = [];
  let firstId: number | undefined;
  let left = limit;
  let characters = 0;
  for (;;) {
    const asked = { before: firstId ?? before, limit: Math.min(left, mostPerResponse) };
    const { entries, hasMore } = await ask(client, asked);
    assertValid({ entries, hasMore }, asked);
    pages.unshift(entries.filter(isVisible));
    firstId = entries[0]?.id ?? firstId;
    left -= entries.length;
    const isLast = !hasMore || left === 0 || performance.now() - startedMs >= askingMs;
    if (!isLast) characters += JSON.stringify(entries).length;
    if (isLast || characters >= mostCharacters) return { entries: pages.flat(), hasMore, firstId };
  }
}

/** Throws UnexpectedAnswerError for a page with too many entries, with ids in the wrong order, or with `hasMore` but without entries. */
function assertValid({ entries, hasMore }: EntryPage<Entry>, { before, limit }: AskedPage): void {
  let lowest = 1;
  let isValid = entries.length <= limit && (entries.length > 0 || !hasMore);
  for (const { id } of entries) {
    isValid &&= id >= lowest && id < (before ?? Infinity);
    lowest = id + 1;
  }
  if (!isValid) throw new UnexpectedAnswerError("The page is not valid.", { status: 200, requestId: undefined, text: "" });
}

/** An entry, with the id of the daemon that the entry is from. */
export interface OwnedEntry<Item extends Entry> {
  readonly daemonId: string;
  readonly entry: Item;
}

/**
 * Returns at most `limit` newest entries of all pages, sorted by time, oldest first. Keeps the order of entries within a daemon. Takes no
 * further entry when all entries of a page are taken and its daemon has older entries.
 */
export function newestEntries<Item extends Entry>(
  responses: ReceivedPages<Item>,
  { limit, timeOf }: Pick<EntrySource<never, Item>, "limit" | "timeOf">,
): OwnedEntry<Item>[] {
  const pages = responses.flatMap(({ instance: { id }, response }) =>
    "result" in response ? [{ id, ...response.result, end: response.result.entries.length }] : [],
  );
  // True if all entries of a page are taken and its daemon has older entries. The older entries are possibly newer than the remaining
  // entries of other daemons.
  const isCut = () => pages.some(({ entries, end, hasMore }) => end === 0 && hasMore && entries.length > 0);
  const newest: OwnedEntry<Item>[] = [];
  while (newest.length < limit && !isCut()) {
    let next: { page: (typeof pages)[number]; entry: Item } | undefined;
    // Compares only the last entry that is left in each page. A sort of all entries by time could change the order within a daemon, because
    // its clock can be set back.
    for (const page of pages) {
      const entry = page.entries[page.end - 1];
      if (entry && (!next || timeOf(entry) > timeOf(next.entry))) next = { page, entry };
    }
    if (!next) break;
    next.page.end -= 1;
    newest.push({ daemonId: next.page.id, entry: next.entry });
  }
  return newest.toReversed();
}

interface MergeOptions<Item extends Entry> {
  /** The positions of the request. Each page contains entries before the position of its daemon. */
  readonly positions: EntryPositions;
  readonly source: Pick<EntrySource<never, Item>, "limit" | "timeOf">;
  readonly names: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
}

/** Merges the pages of daemons. Each entry of a page is either in the result, or older than the position in the result. */
function mergePages<Item extends Entry>(
  responses: ReceivedPages<Item>,
  { positions, source, names, keys }: MergeOptions<Item>,
): MergedPage<Item> {
  const newest = newestEntries(responses, source);
  const next = new Map(positions);
  let hasMore = false;
  for (const { instance, response } of responses) {
    if ("problem" in response) {
      hasMore ||= response.state !== "gone" && positions.get(instance.id) !== 0;
      continue;
    }
    const { entries, firstId } = response.result;
    const left = entries.length - newest.filter(({ daemonId }) => daemonId === instance.id).length;
    const isLast = left === 0 && !response.result.hasMore;
    const position = left === 0 ? (firstId ?? entries[0]?.id ?? 0) : (entries[left]?.id ?? (entries.at(-1) as Item).id + 1);
    next.set(instance.id, isLast ? 0 : position);
    hasMore ||= !isLast;
  }
  // Omits the problem of a daemon whose entries were all read earlier, because none of its entries is missing.
  const listed = toListedInstances(responses).map((one) => (positions.get(one.id) === 0 ? { name: one.name, id: one.id } : one));
  return {
    entries: newest.map(({ daemonId, entry }) => ({ ...entry, instance: names.get(daemonId) })),
    hasMore,
    ...(hasMore && { before: formatPosition(next, keys) }),
    instances: listed,
  };
}
