/** One line of a comparison. A line is in both texts, only in the later text (`added`), or only in the earlier text (`removed`). */
export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  /** Line number in the earlier text, from 1. Undefined for an added line. */
  readonly before: number | undefined;
  /** Line number in the later text, from 1. Undefined for a removed line. */
  readonly after: number | undefined;
}

/**
 * Maximum number of different lines. Time and memory grow with the square of this number, so a comparison with more lines would take
 * seconds.
 */
export const mostDifferences = 500;
/** Number of equal lines around each difference. */
const contextLines = 3;

/**
 * Returns the parts of two texts around their differences, each with up to 3 equal lines before and after. Undefined for texts with more
 * than 500 different lines. Uses the algorithm of Myers (An O(ND) Difference Algorithm, 1986).
 */
export function diffParts(before: string, after: string): readonly (readonly DiffLine[])[] | undefined {
  const lines = diffLines(before.split("\n"), after.split("\n"));
  return lines && partsOf(lines);
}

/** The furthest position that the search reached in the earlier text, for each diagonal. Diagonal 0 is in the middle of the array. */
type Reached = Int32Array<ArrayBuffer>;
const middle = mostDifferences + 1;

function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] | undefined {
  const reached: Reached = new Int32Array(2 * middle + 1);
  const steps: Reached[] = [];
  for (let count = 0; count <= Math.min(before.length + after.length, mostDifferences); count += 1) {
    steps.push(reached.slice());
    for (let diagonal = -count; diagonal <= count; diagonal += 2) {
      let x = isAdded(reached, count, diagonal) ? at(reached, diagonal + 1) : at(reached, diagonal - 1) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1;
      reached[middle + diagonal] = x;
      if (x >= before.length && x - diagonal >= after.length) return traceBack(before, after, steps);
    }
  }
  return undefined;
}

/** Follows the recorded steps from the end of both texts to the start, and returns the lines of the comparison. */
function traceBack(before: readonly string[], after: readonly string[], steps: readonly Reached[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let [x, y] = [before.length, after.length];
  const toSame = () => ({ kind: "same", text: before[x - 1] ?? "", before: x, after: y }) as const;
  for (const [count, reached] of [...steps.entries()].slice(1).toReversed()) {
    const diagonal = x - y;
    const isDown = isAdded(reached, count, diagonal);
    const startX = at(reached, isDown ? diagonal + 1 : diagonal - 1);
    const startY = startX - (isDown ? diagonal + 1 : diagonal - 1);
    for (; x > startX && y > startY; x -= 1, y -= 1) lines.push(toSame());
    if (isDown) lines.push({ kind: "added", text: after[y - 1] ?? "", before: undefined, after: y });
    else lines.push({ kind: "removed", text: before[x - 1] ?? "", before: x, after: undefined });
    [x, y] = [startX, startY];
  }
  for (; x > 0 && y > 0; x -= 1, y -= 1) lines.push(toSame());
  return lines.toReversed();
}

/** Whether the step with this number reached the diagonal by adding a line. Otherwise it removed one. */
function isAdded(reached: Reached, count: number, diagonal: number): boolean {
  return diagonal === -count || (diagonal !== count && at(reached, diagonal - 1) < at(reached, diagonal + 1));
}

function at(reached: Reached, diagonal: number): number {
  return reached[middle + diagonal] ?? 0;
}

function partsOf(lines: readonly DiffLine[]): DiffLine[][] {
  const parts: DiffLine[][] = [];
  let lastShown = -2;
  for (const [index, line] of lines.entries()) {
    const nearby = lines.slice(Math.max(0, index - contextLines), index + contextLines + 1);
    if (nearby.every(({ kind }) => kind === "same")) continue;
    if (index !== lastShown + 1) parts.push([]);
    parts.at(-1)?.push(line);
    lastShown = index;
  }
  return parts;
}
