import type { InstanceRegistry } from "./instance-registry.js";

type Daemons = Pick<InstanceRegistry, "own" | "others" | "isReplaced">;

/** Number of characters of a daemon's id that identify the daemon in a position. */
const keyLength = 8;

/** A position in the entries of several daemons: the id of one entry for each daemon, by the id of the daemon. */
export type EntryPositions = ReadonlyMap<string, number>;

/**
 * Returns the names of all daemons, by id. For a replaced daemon, and for several daemons with the same name, returns the id in place of the
 * name.
 */
export function namesOf(registry: Daemons): ReadonlyMap<string, string> {
  const all = [registry.own, ...registry.others()];
  const present = all.filter((one) => !registry.isReplaced(one));
  const isUnique = (name: string) => present.filter((one) => one.name === name).length === 1;
  return new Map(all.map((one) => [one.id, present.includes(one) && isUnique(one.name) ? one.name : one.id]));
}

/**
 * Returns the text that identifies each daemon in positions, by id: the first 8 characters of the id, or the whole id if another id begins
 * with the same characters.
 */
export function keysOf(registry: Daemons): ReadonlyMap<string, string> {
  const ids = [registry.own, ...registry.others()].map(({ id }) => id);
  const isUnique = (key: string) => ids.filter((id) => id.startsWith(key)).length === 1;
  return new Map(ids.map((id) => [id, isUnique(id.slice(0, keyLength)) ? id.slice(0, keyLength) : id]));
}

/** Returns whether a position is a single entry id, without a daemon. */
export function isPlainPosition(text: string): boolean {
  return /^\d+$/.test(text);
}

/**
 * Parses a position that a client sent. A single entry id without a daemon belongs to the daemon `plainId`. Ignores daemons that are not
 * registered any more.
 */
export function parsePosition(text: string, registry: Daemons, plainId: string = registry.own.id): EntryPositions {
  if (isPlainPosition(text)) return new Map([[plainId, Number(text)]]);
  const keys = keysOf(registry);
  const idOf = new Map([...namesOf(registry), ...keys].map(([id, name]) => [name, id]));
  const positions = new Map<string, number>();
  for (const part of text.split(",")) {
    const [name = "", position] = part.split(":");
    const id = keys.has(name) ? name : idOf.get(name);
    if (id !== undefined) positions.set(id, Number(position));
  }
  return positions;
}

/**
 * Returns positions as text. The text contains the keys of daemons, not their names, because names change. If only one daemon exists, the
 * text is a single entry id.
 */
export function formatPosition(positions: EntryPositions, keys: ReadonlyMap<string, string>): string {
  const [[id, only] = ["", 0]] = positions;
  if (positions.size === 1 && keys.size === 1 && keys.has(id)) return String(only);
  return [...positions].map(([daemonId, position]) => `${keys.get(daemonId) ?? daemonId}:${position}`).join(",");
}
