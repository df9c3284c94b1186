import type { Instance } from "./contract/instances.js";

/** Returns the name of a daemon, or its id if several of the daemons have the name. The labels of a list differ from each other. */
export function instanceLabel({ name, id }: Pick<Instance, "name" | "id">, all: readonly Pick<Instance, "name">[]): string {
  return all.filter((other) => other.name === name).length > 1 ? id : name;
}

/** Returns the daemons without those that are gone and have the name of another daemon, which replaces them. */
export function withoutReplaced<Listed extends Pick<Instance, "name" | "state">>(all: readonly Listed[]): Listed[] {
  const live = new Set(all.filter(({ state }) => state !== "gone").map(({ name }) => name));
  return all.filter(({ name, state }) => state !== "gone" || !live.has(name));
}
