import path from "node:path";
import type { ChangeType } from "../../../shared/contract/changes.js";
import type { FileChange } from "./package-owner.js";
import type { Unit } from "./unit.js";
import { inTransaction } from "../transactions/in-transaction.js";
import type { InstallAreas } from "../transactions/install-areas.js";
import { discardAfter } from "../transactions/retire-folder.js";
import type { PeerChange } from "../transactions/peer-change.js";

export interface FileChangeSurroundings {
  readonly areas: InstallAreas;
  readonly type: ChangeType;
  /** The folder that is read again with a unit. */
  readonly folderOf: (unit: Unit) => string;
  /** Has what serves a unit renewed; called in the instant of the change. What still runs reads from `movedTo`, if the unit went there. */
  readonly renew: (unit: Unit, movedTo: string | undefined) => Promise<void>[];
}

/** Changes files of packages in one directory; what takes its time goes before, and then nothing else changes there until it is done. */
export async function runFileChange(surroundings: FileChangeSurroundings, units: readonly Unit[], change: FileChange): Promise<void> {
  const { areas, renew } = surroundings;
  const [{ directory }] = units as [Unit];
  const area = areas.of(directory);
  await inTransaction(area, async (staged) => {
    const aside = await staged.makeContentFolder();
    await change.prepare?.(aside);
    let retiring: Promise<void>[] = [];
    await area.exclusively(async () => {
      change.check?.(aside);
      const told = describe(surroundings, units);
      await staged.step(told, async (tell) => {
        retiring = applyAndRenew(change, aside, (movedTo) => {
          tell(movedTo === undefined ? told : { ...told, moved: units.map((unit) => moveOf(unit, movedTo)) });
          return units.flatMap((unit) => renew(unit, movedTo));
        });
        await change.settle();
      });
    });
    await discardAfter(retiring, staged);
  });
}

function describe({ type, folderOf }: FileChangeSurroundings, units: readonly Unit[]): PeerChange {
  const [{ directory, name }] = units as [Unit];
  const below = (folder: string) => path.relative(directory, folder);
  return {
    type,
    subject: { name },
    folders: [...new Set(units.map((unit) => below(folderOf(unit))))],
    edited: units.map(({ folder }) => below(folder)),
  };
}

function moveOf({ directory, folder }: Unit, movedTo: string): { from: string; to: string } {
  return { from: path.relative(directory, folder), to: path.relative(directory, movedTo) };
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
