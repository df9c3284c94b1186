import type { Instance } from "./contract/instances.js";

/**
 * Returns the name of a daemon. Returns the id of a replaced daemon, and of several daemons with the same name. Each label in a list of
 * daemons is thus unique.
 */
export function instanceLabel(
  { name, id }: Pick<Instance, "name" | "id">,
  all: readonly Pick<Instance, "name" | "id" | "state">[],
): string {
  const [found, ...further] = withoutReplaced(all).filter((other) => other.name === name);
  return found?.id === id && further.length === 0 ? name : id;
}

/**
 * Returns the daemons of a list, except replaced ones. A daemon with the state `gone` is replaced if a daemon with another state has the
 * same name.
 */
export function withoutReplaced<Listed extends Pick<Instance, "name" | "state">>(all: readonly Listed[]): Listed[] {
  const live = new Set(all.filter(({ state }) => state !== "gone").map(({ name }) => name));
  return all.filter(({ name, state }) => state !== "gone" || !live.has(name));
}

/**
 * Returns the daemons whose data is missing, because they are unreachable or gone. `only` is the name or id of the only daemon to check. If
 * `only` is empty, checks all daemons.
 */
export function missingInstances<Listed extends Pick<Instance, "name" | "id" | "state">>(all: readonly Listed[], only: string): Listed[] {
  return withoutReplaced(all).filter(
    ({ name, id, state }) => (state === "unreachable" || state === "gone") && (only === "" || only === name || only === id),
  );
}

/** Returns the number of daemons that are ready. */
export function readyCount(all: readonly Pick<Instance, "state">[]): number {
  return all.filter(({ state }) => state === "ready").length;
}

/** Returns the different versions of the daemons that are not gone, sorted. Several versions exist during a rolling upgrade. */
export function runningVersions(all: readonly Pick<Instance, "state" | "version">[]): string[] {
  return [...new Set(all.filter(({ state }) => state !== "gone").map(({ version }) => version))].toSorted();
}

/** Whether no daemon except this one is ready. */
export function isLastReady({ id }: Pick<Instance, "id">, all: readonly Pick<Instance, "id" | "state">[]): boolean {
  return readyCount(all.filter((other) => other.id !== id)) === 0;
}
