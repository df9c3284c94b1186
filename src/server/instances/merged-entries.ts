import type { ClientOf, Operations } from "../../shared/client.js";
import { collectAnswers, toListedInstances, type KnownInstances, type ListedAnswer } from "./ask-others.js";
import { formatPosition, isPlainPosition, namesOf, parsePosition, type EntryPositions } from "./entry-position.js";

/** An entry of a list or stream. The ids of a daemon increase. */
export interface Entry {
  readonly id: number;
  readonly instance?: string | undefined;
}

/** Entries of one daemon, oldest first. `hasMore` is true if older entries match. */
export interface EntryPage<Item extends Entry> {
  readonly entries: readonly Item[];
  readonly hasMore: boolean;
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
  /** Reads the newest entries of this daemon with an id below `before`. */
  readonly read: (before: number | undefined) => Promise<EntryPage<Item>>;
  /** Reads the newest entries of another daemon with an id below `before`. */
  readonly ask: (client: ClientOf<Offered>, before: number | undefined) => Promise<EntryPage<Item>>;
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

/** `error` is the reason why the daemon has no such entries. */
type AnsweredPage<Item extends Entry> = EntryPage<Item> & { readonly error?: Error };
export type AnsweredPages<Item extends Entry> = readonly ListedAnswer<AnsweredPage<Item>>[];

/**
 * Returns the newest entries of the wanted daemons, oldest first: `all`, `self`, or the name or id of a daemon. Returns the entries of this
 * daemon without further fields if it is the only one. Throws INSTANCE_NOT_FOUND or INSTANCE_UNAVAILABLE.
 */
export async function readEntries<Offered extends Operations, Item extends Entry>(
  instances: KnownInstances,
  { wanted, before }: { readonly wanted: string; readonly before: string | undefined },
  source: EntrySource<Offered, Item>,
): Promise<MergedPage<Item>> {
  const { registry } = instances;
  // An id without a daemon continues the entries of this daemon.
  const isPlain = before !== undefined && isPlainPosition(before);
  if (wanted === "self" || (wanted === "all" && (isPlain || registry.others().length === 0))) {
    const position = before === undefined ? undefined : parsePosition(before, registry).get(registry.own.id);
    const { entries, hasMore } = await source.read(position);
    const [first] = entries;
    return { entries: [...entries], hasMore, ...(hasMore && first && { before: String(first.id) }) };
  }
  const plainId = wanted === "all" ? registry.own.id : registry.get(wanted).id;
  const positions: EntryPositions = before === undefined ? new Map() : parsePosition(before, registry, plainId);
  return mergePages(await askForPages(instances, { wanted, positions }, source), { positions, source, names: namesOf(registry) });
}

/** Reads one page of each wanted daemon. Throws the error of a daemon if all daemons that respond have no such entries. */
export async function askForPages<Offered extends Operations, Item extends Entry>(
  instances: KnownInstances,
  { wanted, positions }: { readonly wanted: string; readonly positions: EntryPositions },
  { key, offered, read, ask, isAbsent }: EntrySource<Offered, Item>,
): Promise<AnsweredPages<Item>> {
  const orAbsent = (page: Promise<EntryPage<Item>>): Promise<AnsweredPage<Item>> =>
    page.catch((error: unknown) => {
      if (error instanceof Error && isAbsent?.(error)) return { entries: [], hasMore: false, error };
      throw error;
    });
  const call = (client: ClientOf<Offered>, id: string) => orAbsent(ask(client, positions.get(id)));
  const readOwn = () => orAbsent(read(positions.get(instances.registry.own.id)));
  const answers = await collectAnswers(instances, wanted, { question: { key, offered, call }, readOwn });
  const results = answers.flatMap(({ answer }) => ("result" in answer ? [answer.result] : []));
  const [absent] = results;
  if (absent?.error && results.every(({ error }) => error !== undefined)) throw absent.error;
  return answers;
}

/** An entry of a daemon. */
export interface OwnedEntry<Item extends Entry> {
  readonly daemonId: string;
  readonly entry: Item;
}

/** Returns the newest entries of all pages by time, at most `limit`, oldest first. Keeps the order of the entries of a daemon. */
export function newestEntries<Item extends Entry>(
  answers: AnsweredPages<Item>,
  { limit, timeOf }: Pick<EntrySource<never, Item>, "limit" | "timeOf">,
): OwnedEntry<Item>[] {
  const pages = answers.flatMap(({ instance: { id }, answer }) =>
    "result" in answer ? [{ id, entries: answer.result.entries, end: answer.result.entries.length }] : [],
  );
  const newest: OwnedEntry<Item>[] = [];
  while (newest.length < limit) {
    let next: { page: (typeof pages)[number]; entry: Item } | undefined;
    // Compares only the last entries of the pages, because the clock of a daemon can be set back.
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
  /** The positions before which the pages were read. */
  readonly positions: EntryPositions;
  readonly source: Pick<EntrySource<never, Item>, "limit" | "timeOf">;
  readonly names: ReadonlyMap<string, string>;
}

/** Merges the pages of daemons. Each entry of a page is either in the result, or older than the position in the result. */
function mergePages<Item extends Entry>(answers: AnsweredPages<Item>, { positions, source, names }: MergeOptions<Item>): MergedPage<Item> {
  const newest = newestEntries(answers, source);
  const next = new Map(positions);
  let hasMore = false;
  for (const { instance, answer } of answers) {
    if ("problem" in answer) continue;
    const { entries } = answer.result;
    const left = entries.length - newest.filter(({ daemonId }) => daemonId === instance.id).length;
    const isLast = left === 0 && !answer.result.hasMore;
    next.set(instance.id, isLast ? 0 : (entries[left]?.id ?? (entries.at(-1) as Item).id + 1));
    hasMore ||= !isLast;
  }
  // Nothing is missing of a daemon whose entries were all read before.
  const listed = toListedInstances(answers).map((one) => (positions.get(one.id) === 0 ? { name: one.name, id: one.id } : one));
  const isIncomplete = hasMore || listed.some((one) => "problem" in one);
  return {
    entries: newest.map(({ daemonId, entry }) => ({ ...entry, instance: names.get(daemonId) })),
    hasMore,
    ...(isIncomplete && { before: formatPosition(next, names) }),
    instances: listed,
  };
}
