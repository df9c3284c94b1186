import type { InstanceRegistry } from "./instance-registry.js";

type Daemons = Pick<InstanceRegistry, "own" | "others">;

/** Number of characters of an id that name a daemon in a position. */
const keyLength = 8;

/** Ids in the entries of several daemons, by the id of the daemon. */
export type EntryPositions = ReadonlyMap<string, number>;

/** Returns the names of all daemons, by id. Returns the id as the name of a daemon whose name another daemon has, too. */
export function namesOf(registry: Daemons): ReadonlyMap<string, string> {
  const all = [registry.own, ...registry.others()];
  const isUnique = (name: string) => all.filter((one) => one.name === name).length === 1;
  return new Map(all.map(({ id, name }) => [id, isUnique(name) ? name : id]));
}

/** Returns the keys of all daemons in positions, by id: the first 8 characters of the id, or the id if another one begins with them. */
export function keysOf(registry: Daemons): ReadonlyMap<string, string> {
  const ids = [registry.own, ...registry.others()].map(({ id }) => id);
  const isUnique = (key: string) => ids.filter((id) => id.startsWith(key)).length === 1;
  return new Map(ids.map((id) => [id, isUnique(id.slice(0, keyLength)) ? id.slice(0, keyLength) : id]));
}

/** Returns whether a position is an id of one daemon. */
export function isPlainPosition(text: string): boolean {
  return /^\d+$/.test(text);
}

/** Parses a position of the contract. An id without a daemon is that of `plainId`. Ignores daemons that are not registered any more. */
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

/** Returns positions as text. Contains keys and no names, because names change. For the only daemon, the text is an id. */
export function formatPosition(positions: EntryPositions, keys: ReadonlyMap<string, string>): string {
  const [[id, only] = ["", 0]] = positions;
  if (positions.size === 1 && keys.size === 1 && keys.has(id)) return String(only);
  return [...positions].map(([daemonId, position]) => `${keys.get(daemonId) ?? daemonId}:${position}`).join(",");
}
