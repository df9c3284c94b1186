import { Box, Text } from "ink";
import { memo, useEffect, useMemo, useState } from "react";
import { fitted, widthOf } from "../terminal/fitted.js";
import { useKeyScope, type Handlers } from "../keyboard/key-dispatcher.js";
import { PromptLine } from "./prompt-line.js";

const gap = 2;
const markWidth = 2;
const defaultWidth = 10;

const Row = memo(function Row({ cells, colors, isSelected, isStale }: RowProps) {
  const parts = cells.split("\u0000");
  const paints = colors.split(",");
  return (
    <Text wrap="truncate-end" inverse={isSelected} dimColor={isStale}>
      {isSelected ? "> " : "  "}
      {parts.map((part, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- cells have no other identity; two cells can be equal
        <Text key={index} {...(paints[index] && !isSelected ? { color: paints[index] } : {})}>
          {index === 0 ? part : " ".repeat(gap) + part}
        </Text>
      ))}
    </Text>
  );
});

export interface Column<Item> {
  readonly heading: string;
  readonly text: (item: Item) => string;
  /** Width in terminal columns. Default for the first column: the remaining width. */
  readonly width?: number;
  /** Returns one of the 16 terminal colors. The text must express the same state without color. */
  readonly color?: (item: Item) => string | undefined;
}

/** A column of a table with its width in terminal columns. */
interface PlacedColumn<Item> {
  readonly column: Column<Item>;
  readonly width: number;
}

interface Props<Item> {
  readonly items: readonly Item[];
  /** The visible columns, from `placeColumns`. */
  readonly columns: readonly PlacedColumn<Item>[];
  readonly keyOf: (item: Item) => string;
  readonly selectedIndex: number;
  /** Index of the item in the first visible row. */
  readonly firstIndex: number;
  /** Height of the table in lines, including the heading. */
  readonly height: number;
  readonly width: number;
  readonly isStale: boolean;
}

/** Shows a table and renders only its visible rows. */
export function List<Item>({ items, columns, keyOf, selectedIndex, firstIndex, height, width, isStale }: Props<Item>) {
  const shown = items.slice(firstIndex, firstIndex + height - 1);
  return (
    <Box flexDirection="column" width={width} height={height} overflowY="hidden">
      <Text bold wrap="truncate-end">
        {" ".repeat(markWidth) + columns.map(({ column, width: columnWidth }) => fitted(column.heading, columnWidth)).join(" ".repeat(gap))}
      </Text>
      {shown.map((item, index) => (
        <Row
          key={keyOf(item)}
          cells={columns.map(({ column, width: columnWidth }) => fitted(column.text(item), columnWidth)).join("\u0000")}
          colors={columns.map(({ column }) => column.color?.(item) ?? "").join(",")}
          isSelected={firstIndex + index === selectedIndex}
          isStale={isStale}
        />
      ))}
    </Box>
  );
}

interface RowProps {
  /** The cells joined to one string, so that React skips an unchanged row. */
  readonly cells: string;
  readonly colors: string;
  readonly isSelected: boolean;
  readonly isStale: boolean;
}

/** Returns the width in terminal columns of a table that shows all of its columns and its longest name completely. */
export function tableWidth<Item>(columns: readonly Column<Item>[], items: readonly Item[]): number {
  return markWidth + nameWidthOf(columns, items) + fixedWidthOf(columns);
}

/**
 * Returns the columns that fit into the width. First reserves the longest name's width, at most half of the width. Then omits columns from
 * the right until the others fit. `items` are all items, so that a filter does not change the layout.
 */
export function placeColumns<Item>(columns: readonly Column<Item>[], items: readonly Item[], width: number): PlacedColumn<Item>[] {
  const room = Math.max(0, width - markWidth);
  const leastNameWidth = Math.min(nameWidthOf(columns, items), Math.floor(room / 2));
  let count = columns.length;
  while (count > 1 && leastNameWidth + fixedWidthOf(columns.slice(0, count)) > room) count -= 1;
  const placed = columns.slice(0, count);
  const nameWidth = room - fixedWidthOf(placed);
  return placed.map((column, index) => ({
    column,
    width: index === 0 ? Math.min(column.width ?? nameWidth, nameWidth) : (column.width ?? defaultWidth),
  }));
}

/** Returns the width of the longest text in the first column, including its heading. */
function nameWidthOf<Item>([first]: readonly Column<Item>[], items: readonly Item[]): number {
  if (first === undefined) return 0;
  const longest = items.reduce((width, item) => Math.max(width, widthOf(first.text(item))), widthOf(first.heading));
  return Math.min(longest, first.width ?? longest);
}

/** Returns the width of all columns except the first, including the gaps before them. */
function fixedWidthOf<Item>(columns: readonly Column<Item>[]): number {
  return columns.slice(1).reduce((sum, { width = defaultWidth }) => sum + gap + width, 0);
}

/**
 * Whether a text contains all words of a filter, case-insensitively. A filter word such as `!word` excludes texts that contain the word.
 */
export function matchesFilter(text: string, filter: string): boolean {
  const lower = text.toLowerCase();
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "" && word !== "!");
  return words.every((word) => (word.startsWith("!") ? !lower.includes(word.slice(1)) : lower.includes(word)));
}

interface Options<Item> {
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** Returns the text of an item that the filter searches. */
  readonly textOf: (item: Item) => string;
  /** Number of visible rows. */
  readonly height: number;
  readonly canOpen: boolean;
  /**
   * Identifier of the item to select first, in the form that `keyOf` returns. If this field changes, the list selects the item with the new
   * identifier.
   */
  readonly firstKey?: string | undefined;
  /** Called for the selected item when the user presses enter. Without this callback, enter shows the details. */
  readonly onOpen?: ((item: Item) => void) | undefined;
  /** Called when the user presses esc while no detail is open and no filter is set. */
  readonly onBack?: (() => void) | undefined;
}

interface ListState<Item> {
  readonly items: readonly Item[];
  readonly selected: Item | undefined;
  readonly selectedIndex: number;
  readonly firstIndex: number;
  readonly filter: string;
  readonly isFiltering: boolean;
  readonly isOpen: boolean;
  readonly setFilter: (filter: string) => void;
  readonly endFiltering: () => void;
}

/** Manages selection, filter, scrolling and shortcuts of a list. The same item stays selected if the list changes. */
export function useList<Item>({ items, keyOf, textOf, height, canOpen, firstKey, onOpen, onBack }: Options<Item>): ListState<Item> {
  const [filter, setFilter] = useState("");
  const [isFiltering, setFiltering] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const [selection, setSelection] = useState<{ key: string | undefined; index: number; first: number }>({
    key: firstKey,
    index: 0,
    first: 0,
  });
  useEffect(() => {
    if (firstKey !== undefined) setSelection((previous) => ({ ...previous, key: firstKey }));
  }, [firstKey]);
  const matching = useMemo(
    () => (filter === "" ? items : items.filter((item) => matchesFilter(textOf(item), filter))),
    // oxlint-disable-next-line react/exhaustive-deps -- `textOf` depends only on its item, so a new function has the same result
    [items, filter],
  );
  const found = selection.key === undefined ? -1 : matching.findIndex((item) => keyOf(item) === selection.key);
  // Stores the key of the first item as the selection. Otherwise a new order of the items would select another item.
  const topKey = matching[0] === undefined ? undefined : keyOf(matching[0]);
  useEffect(() => {
    setSelection((previous) => (previous.key === undefined && topKey !== undefined ? { ...previous, key: topKey } : previous));
  }, [topKey]);
  const selectedIndex = Math.max(0, Math.min(found === -1 ? selection.index : found, matching.length - 1));
  const firstIndex = scrolled(selection.first, { selectedIndex, height, count: matching.length });
  const select = (wanted: number) => {
    const index = Math.max(0, Math.min(wanted, matching.length - 1));
    const item = matching[index];
    setSelection({
      key: item && keyOf(item),
      index,
      first: scrolled(firstIndex, { selectedIndex: index, height, count: matching.length }),
    });
  };
  // A filter that excludes the selected item selects another one by its index. Stores its key, so that it stays selected without the filter.
  const keepSelected = () => {
    if (matching.length > 0) select(selectedIndex);
  };
  const changeFilter = (next: string) => {
    keepSelected();
    setFilter(next);
  };
  const back = isOpen ? () => setOpen(false) : filter === "" ? onBack : () => changeFilter("");
  const startFiltering = () => {
    setOpen(false);
    setFiltering(true);
  };
  const selected = matching[selectedIndex];
  const open =
    selected !== undefined && onOpen
      ? () => onOpen(selected)
      : selected !== undefined && canOpen && !isOpen
        ? () => setOpen(true)
        : undefined;
  const moves: Handlers = {
    "list.down": () => select(selectedIndex + 1),
    "list.up": () => select(selectedIndex - 1),
    "list.pageDown": () => select(selectedIndex + height),
    "list.pageUp": () => select(selectedIndex - height),
    "list.first": () => select(0),
    "list.last": () => select(matching.length - 1),
  };
  useKeyScope({
    handlers: {
      ...(matching.length > 0 ? moves : {}),
      ...(open ? { "list.open": open } : {}),
      ...(back ? { "list.back": back } : {}),
      ...(items.length > 0 ? { "list.filter": startFiltering } : {}),
    },
  });
  return {
    items: matching,
    selected,
    selectedIndex,
    firstIndex,
    filter,
    isFiltering,
    isOpen: isOpen && canOpen,
    setFilter: changeFilter,
    endFiltering: () => {
      keepSelected();
      setFiltering(false);
    },
  };
}

/** Returns the index of the first visible row, changed only as far as needed to keep the selected row visible. */
function scrolled(first: number, { selectedIndex, height, count }: { selectedIndex: number; height: number; count: number }): number {
  const within = Math.max(Math.min(first, selectedIndex), selectedIndex - height + 1);
  return Math.max(0, Math.min(within, count - height));
}

/** Asks for the filter of a list. Escape removes the filter. */
export function FilterPrompt<Item>({ list }: { readonly list: ListState<Item> }) {
  return (
    <PromptLine
      label="filter:"
      initial={list.filter}
      onChange={list.setFilter}
      onSubmit={list.endFiltering}
      onCancel={() => {
        list.setFilter("");
        list.endFiltering();
      }}
    />
  );
}
