import path from "node:path";
import type { Move } from "./move-journal.js";
import { isPathWithin } from "../../platform/path-within.js";

/** Targets that were moved, each with where it went. */
export function movesOf(targets: readonly string[], movedTo: readonly string[]): Move[] {
  return targets.map((from, index) => ({ from, to: movedTo[index] as string }));
}

/** Where a folder lies after it or one above it was moved; undefined when neither was. */
export function newPath(folder: string, moves: readonly Move[]): string | undefined {
  const move = moves.find(({ from }) => isPathWithin(folder, from));
  return move && path.join(move.to, path.relative(move.from, folder));
}
