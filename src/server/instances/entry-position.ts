import type { InstanceRegistry } from "./instance-registry.js";

type Daemons = Pick<InstanceRegistry, "own" | "others">;

/** Ids in the entries of several daemons, by the id of the daemon. */
export type EntryPositions = ReadonlyMap<string, number>;

/** Returns the names of all daemons, by id. Returns the id as the name of a daemon whose name another daemon has, too. */
export function namesOf(registry: Daemons): ReadonlyMap<string, string> {
  const all = [registry.own, ...registry.others()];
  const isUnique = (name: string) => all.filter((one) => one.name === name).length === 1;
  return new Map(all.map(({ id, name }) => [id, isUnique(name) ? name : id]));
}

/** Returns whether a position is an id of one daemon. */
export function isPlainPosition(text: string): boolean {
  return /^\d+$/.test(text);
}

/** Parses a position of the contract. An id without a daemon is that of `plainId`. Ignores daemons that are not registered any more. */
export function parsePosition(text: string, registry: Daemons, plainId: string = registry.own.id): EntryPositions {
  if (isPlainPosition(text)) return new Map([[plainId, Number(text)]]);
  const idOf = new Map([...namesOf(registry)].flatMap(([id, name]) => [[name, id] as const, [id, id] as const]));
  const positions = new Map<string, number>();
  for (const part of text.split(",")) {
    const [name = "", position] = part.split(":");
    const id = idOf.get(name);
    if (id !== undefined) positions.set(id, Number(position));
  }
  return positions;
}

/** Returns positions as text. For the only daemon, the text is an id. */
export function formatPosition(positions: EntryPositions, names: ReadonlyMap<string, string>): string {
  const [[id, only] = ["", 0]] = positions;
  if (positions.size === 1 && names.size === 1 && names.has(id)) return String(only);
  return [...positions].map(([daemonId, position]) => `${names.get(daemonId) ?? daemonId}:${position}`).join(",");
}
