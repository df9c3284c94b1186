import { Box } from "ink";
import type { ReactNode } from "react";
import { useList, List, type Column } from "./list.js";
import { SizeContext, useLayout, useSize } from "../terminal/terminal-size.js";
import { PromptLine } from "./prompt-line.js";
import { SafeText } from "./safe-text.js";

const none: readonly never[] = [];

interface Props<Item> {
  /** Undefined while nothing is known yet. */
  readonly items: readonly Item[] | undefined;
  readonly columns: readonly Column<Item>[];
  readonly keyOf: (item: Item) => string;
  /** What `/` looks at; the cells, when nothing is said. */
  readonly textOf?: (item: Item) => string;
  /** What the items are, in the line that counts them. */
  readonly nouns: readonly [one: string, many: string];
  /** What to do when there is none yet. */
  readonly empty: string;
  /** Why there is no list, when there is none. */
  readonly error?: Error | undefined;
  readonly isStale: boolean;
  /** Where one is, beside the count. */
  readonly place?: string;
  readonly firstKey?: string | undefined;
  readonly onOpen?: (item: Item) => void;
  readonly onBack?: (() => void) | undefined;
  /** What is known of the selected one. Keys for it are offered from in there. */
  readonly detail: (item: Item) => ReactNode;
}

/** A list, and the detail of what is selected: side by side, one below the other, or one at a time. */
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
  const detailRows = layout === "medium" ? Math.min(12, Math.floor(rows / 2)) : rows;
  const listHeight = Math.max(2, (layout === "medium" ? rows - detailRows : rows) - 1);
  const list = useList({
    items: items ?? none,
    keyOf,
    textOf: textOf ?? ((item) => columns.map(({ text }) => text(item)).join(" ")),
    height: listHeight - 1,
    canOpen: layout === "narrow",
    ...ways,
  });
  if (items === undefined) return <SafeText>{error ? `cannot be shown: ${error.message}` : "loading…"}</SafeText>;
  const listWidth = layout === "wide" ? Math.floor(width * 0.55) : width;
  const { selected } = list;
  const shownDetail = selected !== undefined && (
    <SizeContext.Provider value={{ columns: layout === "wide" ? width - listWidth - 2 : width, rows: detailRows }}>
      <Box
        flexDirection="column"
        flexShrink={0}
        overflowY="hidden"
        {...(layout === "wide" ? { width: width - listWidth, paddingLeft: 2, height: rows } : { width, height: detailRows })}
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
        ) : (
          <SafeText dimColor>
            {`${counts(list.items.length, items.length, nouns)}${place && `  ${place}`}${list.filter === "" ? "" : `  filter: ${list.filter}`}${reservation(error, isStale)}`}
          </SafeText>
        )}
        {list.items.length === 0 ? (
          <SafeText>{items.length === 0 ? empty : "nothing fits the filter; esc shows all"}</SafeText>
        ) : (
          <List
            {...{ columns, keyOf, isStale }}
            items={list.items}
            selectedIndex={list.selectedIndex}
            firstIndex={list.firstIndex}
            height={listHeight}
            width={listWidth}
          />
        )}
      </Box>
      {/* In one pane what is selected is not seen, but keys mean it. */}
      {layout === "narrow" ? <Box display="none">{shownDetail}</Box> : shownDetail}
    </Box>
  );
}

/** That the list is an old one; of a daemon that is away the status line says so. */
function reservation(error: Error | undefined, isStale: boolean): string {
  return error === undefined || isStale ? "" : `  not up to date: ${error.message}`;
}

function counts(shown: number, all: number, [one, many]: Props<unknown>["nouns"]): string {
  const noun = all === 1 ? one : many;
  return shown === all ? `${all} ${noun}` : `${shown} of ${all} ${noun}`;
}
