import { Box, Text } from "ink";
import { memo } from "react";
import { fitted } from "../fitted.js";

export interface Column<Item> {
  readonly heading: string;
  readonly text: (item: Item) => string;
  /** Columns it takes; the first takes what is left over when it says nothing. */
  readonly width?: number;
  /** One of the terminal's sixteen; the text must say the same in words. */
  readonly color?: (item: Item) => string | undefined;
}

interface Props<Item> {
  readonly items: readonly Item[];
  readonly columns: readonly Column<Item>[];
  readonly keyOf: (item: Item) => string;
  readonly selectedIndex: number;
  /** The first item that is shown. */
  readonly firstIndex: number;
  /** Lines, the heading included. */
  readonly height: number;
  readonly width: number;
  readonly isStale: boolean;
}

const gap = 2;
const markWidth = 2;

/** A table of which only the rows in sight are made, so that thousands cost as much as a screenful. Columns go from the right when room is short. */
export function List<Item>({ items, columns, keyOf, selectedIndex, firstIndex, height, width, isStale }: Props<Item>) {
  const placed = placeColumns(columns, width - markWidth);
  const shown = items.slice(firstIndex, firstIndex + height - 1);
  return (
    <Box flexDirection="column" width={width} height={height} overflowY="hidden">
      <Text bold wrap="truncate-end">
        {" ".repeat(markWidth) + placed.map(({ column, width: columnWidth }) => fitted(column.heading, columnWidth)).join("  ")}
      </Text>
      {shown.map((item, index) => (
        <Row
          key={keyOf(item)}
          cells={placed.map(({ column, width: columnWidth }) => fitted(column.text(item), columnWidth)).join("\u0000")}
          colors={placed.map(({ column }) => column.color?.(item) ?? "").join(",")}
          isSelected={firstIndex + index === selectedIndex}
          isStale={isStale}
        />
      ))}
    </Box>
  );
}

interface RowProps {
  /** Joined, so that an unchanged row is the same to React. */
  readonly cells: string;
  readonly colors: string;
  readonly isSelected: boolean;
  readonly isStale: boolean;
}

const Row = memo(function Row({ cells, colors, isSelected, isStale }: RowProps) {
  const parts = cells.split("\u0000");
  const paints = colors.split(",");
  return (
    <Text wrap="truncate-end" inverse={isSelected} dimColor={isStale}>
      {isSelected ? "> " : "  "}
      {parts.map((part, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- a cell is its column; two may hold the same text
        <Text key={index} {...(paints[index] ? { color: paints[index] } : {})}>
          {index === 0 ? part : " ".repeat(gap) + part}
        </Text>
      ))}
    </Text>
  );
});

/** Which columns there is room for, and how wide each is. */
function placeColumns<Item>(columns: readonly Column<Item>[], width: number): { column: Column<Item>; width: number }[] {
  const leastFirstWidth = Math.min(20, width);
  let count = columns.length;
  const fixedWidth = (until: number) => columns.slice(1, until).reduce((sum, column) => sum + gap + (column.width ?? 10), 0);
  while (count > 1 && leastFirstWidth + fixedWidth(count) > width) count -= 1;
  return columns.slice(0, count).map((column, index) => ({
    column,
    width: index === 0 ? Math.min(column.width ?? width, width - fixedWidth(count)) : (column.width ?? 10),
  }));
}
