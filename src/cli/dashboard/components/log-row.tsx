import { Box } from "ink";
import { memo } from "react";
import { localTime } from "../../commands/workers/log-line.js";
import { fitted } from "../fitted.js";
import type { LogLine } from "../log-line.js";
import { wrapped } from "../wrapped.js";
import { levelColors } from "./level-colors.js";
import { SafeText } from "./safe-text.js";

const markWidth = 2;
const workerWidth = 16;
const versionWidth = 10;

/** What is shown of each line, in how much room. */
export interface LogColumns {
  readonly width: number;
  readonly isWrapped: boolean;
  readonly hasTimes: boolean;
  readonly hasWorkers: boolean;
  readonly hasVersions: boolean;
}

interface Props {
  readonly line: LogLine;
  readonly columns: LogColumns;
  readonly isSelected: boolean;
}

/** A line of a log, on as many rows as it takes. */
export const LogRow = memo(
  function LogRow({ line, columns, isSelected }: Props) {
    const color = levelColors[line.entry.level];
    const head = headOf(line, columns);
    return (
      <Box flexDirection="column" flexShrink={0}>
        {logRowPieces(line, columns).map((piece, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- a piece is its place in the entry; two may read the same
          <SafeText key={index} inverse={isSelected} {...(color === undefined ? {} : { color })}>
            {`${isSelected ? "> " : "  "}${index === 0 ? head : " ".repeat(head.length)}${piece === "" && head === "" ? " " : piece}`}
          </SafeText>
        ))}
      </Box>
    );
  },
  (before, after) =>
    before.line === after.line &&
    before.isSelected === after.isSelected &&
    JSON.stringify(before.columns) === JSON.stringify(after.columns),
);

/** The text of a line, a row each. */
export function logRowPieces(line: LogLine, columns: LogColumns): string[] {
  return columns.isWrapped ? wrapped(line.text, columns.width - markWidth - headWidth(columns)) : [line.text];
}

function headWidth({ hasTimes, hasWorkers, hasVersions }: LogColumns): number {
  return (hasTimes ? 13 : 0) + 6 + (hasWorkers ? workerWidth + 1 : 0) + (hasVersions ? versionWidth + 1 : 0);
}

function headOf({ entry, worker, isFirst }: LogLine, columns: LogColumns): string {
  if (!isFirst) return " ".repeat(headWidth(columns));
  const parts = [
    ...(columns.hasTimes ? [localTime(new Date(entry.time), new Date(entry.time))] : []),
    entry.level.padEnd(5),
    ...(columns.hasWorkers ? [fitted(worker, workerWidth)] : []),
    ...(columns.hasVersions ? [fitted(entry.version, versionWidth)] : []),
  ];
  return `${parts.join(" ")} `;
}
