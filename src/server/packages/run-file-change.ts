import type { FileChange } from "./files/package-keeper.js";
import type { Unit } from "./files/unit.js";
import { inStagedFolder } from "./in-staged-folder.js";
import type { InstallAreas } from "./install-areas.js";
import type { KeyedLock } from "./keyed-lock.js";

export interface FileChangeSurroundings {
  readonly areas: InstallAreas;
  /** Those of installs, by package. */
  readonly locks: KeyedLock;
  /** Has what serves a unit renewed; called in the instant of the change. What still runs reads from `movedTo`, if the unit went there. */
  readonly renew: (unit: Unit, movedTo: string | undefined) => Promise<void>[];
}

/** Changes files of packages under the locks of their installs; while it is done, no folder of the directory moves. */
export async function runFileChange(surroundings: FileChangeSurroundings, units: readonly Unit[], change: FileChange): Promise<void> {
  const names = [...new Set(units.map(({ name }) => name))].toSorted();
  await underLocks(surroundings.locks, names, () => changeNow(surroundings, units, change));
}

/** Always in the same order, so that two changes of the same packages do not wait for each other. */
function underLocks(locks: KeyedLock, [first, ...others]: readonly string[], work: () => Promise<void>): Promise<void> {
  return first === undefined ? work() : locks.run(first, () => underLocks(locks, others, work));
}

async function changeNow({ areas, renew }: FileChangeSurroundings, units: readonly Unit[], change: FileChange): Promise<void> {
  const [{ directory }] = units as [Unit];
  const area = areas.of(directory);
  await inStagedFolder(area, async (staged) => {
    const aside = await staged.makeContentFolder();
    await change.prepare?.(aside);
    const retiring = await area.exclusively(async () => {
      const renewed = applyAndRenew(change, aside, (movedTo) => units.flatMap((unit) => renew(unit, movedTo)));
      await change.settle();
      return renewed;
    });
    const cleaned = Promise.all(retiring).then(() => staged.discard());
    // What runs from the old files may take its time.
    if (retiring.length === 0) await cleaned;
  });
}

/** In one instant: no request of this process sees the new files with what was made of the old ones. */
function applyAndRenew(change: FileChange, aside: string, renewAll: (movedTo: string | undefined) => Promise<void>[]): Promise<void>[] {
  try {
    return renewAll(change.apply(aside));
  } catch (error) {
    if (change.hasSteps) void renewAll(undefined);
    throw error;
  }
}
