import { useMemo, useState } from "react";
import type { Handlers } from "../key-dispatcher.js";
import { matchesFilter } from "../matches-filter.js";
import { useKeyScope } from "./use-key-scope.js";

interface Options<Item> {
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** What the filter looks at. */
  readonly textOf: (item: Item) => string;
  /** Rows in sight. */
  readonly height: number;
  readonly canOpen: boolean;
  /** Selected at first. */
  readonly firstKey?: string | undefined;
  /** What enter does instead of showing the detail. */
  readonly onOpen?: ((item: Item) => void) | undefined;
  /** What esc does when nothing is open and nothing filtered. */
  readonly onBack?: (() => void) | undefined;
}

export interface ListState<Item> {
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

/** Selection, filter and scrolling of a list, and the keys for them. The selection stays on its item when others come and go. */
export function useList<Item>({ items, keyOf, textOf, height, canOpen, firstKey, onOpen, onBack }: Options<Item>): ListState<Item> {
  const [filter, setFilter] = useState("");
  const [isFiltering, setFiltering] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const [selection, setSelection] = useState<{ key: string | undefined; index: number; first: number }>({
    key: firstKey,
    index: 0,
    first: 0,
  });
  const matching = useMemo(
    () => (filter === "" ? items : items.filter((item) => matchesFilter(textOf(item), filter))),
    // oxlint-disable-next-line react/exhaustive-deps -- `textOf` reads its item only, so that it may be another function each time
    [items, filter],
  );
  const found = selection.key === undefined ? -1 : matching.findIndex((item) => keyOf(item) === selection.key);
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
  const back = isOpen ? () => setOpen(false) : filter === "" ? onBack : () => setFilter("");
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
    setFilter,
    endFiltering: () => setFiltering(false),
  };
}

/** The first row in sight, so that the selected one is. */
function scrolled(first: number, { selectedIndex, height, count }: { selectedIndex: number; height: number; count: number }): number {
  const within = Math.max(Math.min(first, selectedIndex), selectedIndex - height + 1);
  return Math.max(0, Math.min(within, count - height));
}
