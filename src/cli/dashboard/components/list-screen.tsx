import { Box } from "ink";
import { useMemo, type ReactNode } from "react";
import { FilterPrompt, List, placeColumns, tableWidth, useList, type Column } from "./list.js";
import { SizeContext, useLayout, useSize } from "../terminal/terminal-size.js";
import { Rule } from "./rule.js";
import { SafeText } from "./safe-text.js";

const none: readonly never[] = [];
/** Number of rows that the details need to show a worker with a problem and its newest log lines. */
const leastDetailRows = 12;
/** The vertical line between a list and the details of the selected item. */
const divider = {
  borderStyle: "single",
  borderDimColor: true,
  borderTop: false,
  borderRight: false,
  borderBottom: false,
  paddingLeft: 1,
} as const;

interface Props<Item> {
  /** Items of the list. Undefined before the first response. */
  readonly items: readonly Item[] | undefined;
  readonly columns: readonly Column<Item>[];
  readonly keyOf: (item: Item) => string;
  /** Returns the text of an item that the filter (`/`) searches. Default: the texts of the cells. */
  readonly textOf?: (item: Item) => string;
  /** Two nouns for the line with the number of items: singular and plural. */
  readonly nouns: readonly [one: string, many: string];
  /** Text that replaces an empty list. */
  readonly empty: string;
  /** The error of the last request for the items. Undefined if the request succeeded. */
  readonly error?: Error | undefined;
  readonly isStale: boolean;
  /** The location to which the list belongs, such as a folder. Shown beside the number of items. */
  readonly place?: string;
  readonly firstKey?: string | undefined;
  readonly onOpen?: (item: Item) => void;
  readonly onBack?: (() => void) | undefined;
  /** Returns the component that shows the selected item. This component also registers the shortcuts for the item. */
  readonly detail: (item: Item) => ReactNode;
}

/**
 * Shows a list and the selected item's details. A wide terminal shows both side by side, a medium terminal one above the other, and a
 * narrow terminal only one of them.
 */
export function ListScreen<Item>({
  items,
  columns,
  keyOf,
  textOf,
  nouns,
  empty,
  error,
  isStale,
  detail,
  place = "",
  ...ways
}: Props<Item>) {
  const { columns: width, rows } = useSize();
  const layout = useLayout();
  const detailRows = layout === "medium" ? mediumDetailRows(rows, items?.length ?? 0) : rows;
  const listHeight = Math.max(2, (layout === "medium" ? rows - detailRows : rows) - 1);
  const list = useList({
    items: items ?? none,
    keyOf,
    textOf: textOf ?? ((item) => columns.map(({ text }) => text(item)).join(" ")),
    height: listHeight - 1,
    canOpen: layout === "narrow",
    ...ways,
  });
  const listWidth = useMemo(
    () => (layout === "wide" ? wideListWidth(columns, items ?? none, width) : width),
    [layout, columns, items, width],
  );
  const placed = useMemo(() => placeColumns(columns, items ?? none, listWidth), [columns, items, listWidth]);
  if (items === undefined) return <SafeText>{error ? `cannot load the list: ${error.message}` : "loading…"}</SafeText>;
  const { selected } = list;
  const shownDetail = selected !== undefined && (
    <SizeContext.Provider
      value={{ columns: layout === "wide" ? width - listWidth - 2 : width, rows: layout === "narrow" && !list.isOpen ? 0 : detailRows }}
    >
      <Box
        flexDirection="column"
        flexShrink={0}
        overflowY="hidden"
        {...(layout === "wide" ? { ...divider, width: width - listWidth, height: rows } : { width, height: detailRows })}
      >
        {detail(selected)}
      </Box>
    </SizeContext.Provider>
  );
  if (list.isOpen && shownDetail) return shownDetail;
  return (
    <Box flexDirection={layout === "wide" ? "row" : "column"} height={rows}>
      <Box flexDirection="column" width={listWidth} height={listHeight + 1} flexShrink={0}>
        {list.isFiltering ? (
          <FilterPrompt list={list} />
        ) : (
          <Rule
            title={counts(list.items.length, items.length, nouns)}
            note={[place, list.filter && `filter: ${list.filter}`, reservation(error, isStale)].filter((part) => part !== "").join("  ")}
            columns={listWidth}
          />
        )}
        {list.items.length === 0 ? (
          <SafeText>{items.length === 0 ? empty : "no matches; esc clears the filter"}</SafeText>
        ) : (
          <List
            {...{ keyOf, isStale }}
            columns={placed}
            items={list.items}
            selectedIndex={list.selectedIndex}
            firstIndex={list.firstIndex}
            height={listHeight}
            width={listWidth}
          />
        )}
      </Box>
      {/* The narrow layout mounts the details without showing them, because their component registers the shortcuts for the selected item. */}
      {layout === "narrow" ? <Box display="none">{shownDetail}</Box> : shownDetail}
    </Box>
  );
}

/**
 * Returns the height of the details below a list in rows. The list needs one row per item, its rule and its headings. The details get the
 * other rows, but at least `leastDetailRows`, or half of the height if that is less.
 */
function mediumDetailRows(rows: number, itemCount: number): number {
  return Math.max(rows - itemCount - 2, Math.min(leastDetailRows, Math.floor(rows / 2)));
}

/** Returns the width of a list beside the details: the width of its complete table, within 40 % to 70 % of the terminal. */
function wideListWidth<Item>(columns: readonly Column<Item>[], items: readonly Item[], width: number): number {
  return Math.min(Math.max(Math.floor(width * 0.4), tableWidth(columns, items)), Math.floor(width * 0.7));
}

/** Returns a note that the list is outdated. Empty while the daemon is unreachable, because the status line then reports the problem. */
function reservation(error: Error | undefined, isStale: boolean): string {
  return error === undefined || isStale ? "" : `not up to date: ${error.message}`;
}

function counts(shown: number, all: number, [one, many]: Props<unknown>["nouns"]): string {
  const noun = all === 1 ? one : many;
  return shown === all ? `${all} ${noun}` : `${shown} of ${all} ${noun}`;
}
