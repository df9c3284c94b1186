import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import { Button } from "../../components/button.js";
import { Icon } from "../../components/icon.js";
import { ScrollRegion } from "../../components/scroll-region.js";
import { useFillHeight } from "../../components/use-fill-height.js";
import { useObserved } from "../../live/use-observed.js";
import { LogLine } from "./log-line.js";
import type { LogRow } from "./log-row.js";
import { VirtualRows } from "./virtual-rows.js";

interface LogListProps {
  readonly rows: readonly LogRow[];
  /** Number of received entries. The list computes the number of new entries from it. */
  readonly total: number;
  readonly label: string;
  readonly isWrapped: boolean;
  /** Whether each row has the name of its worker. */
  readonly hasNames: boolean;
  /** Whether each row has the name of its daemon. */
  readonly hasInstances: boolean;
  /** Callback that requests older rows. Undefined if no older rows exist. */
  readonly onNearStart: (() => void) | undefined;
}

/** A list of log rows. The list scrolls to new rows until the user scrolls up, opens a row or moves the focus to a row. */
export function LogList({ rows, total, label, isWrapped, hasNames, hasInstances, onNearStart }: LogListProps) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const nearStart = useRef(onNearStart);
  const [virtual] = useState(() => new VirtualRows(() => nearStart.current?.()));
  const { first, last, isAtEnd } = useObserved(virtual.window);
  const [openKeys, setOpenKeys] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState<string>();
  const seenTotal = useRef(total);
  useFillHeight(box);
  useEffect(() => {
    nearStart.current = onNearStart;
    if (isAtEnd) seenTotal.current = total;
  });
  useLayoutEffect(() => {
    if (!box.current || !canvas.current || !list.current) return undefined;
    return virtual.attach({ box: box.current, canvas: canvas.current, list: list.current });
  }, [virtual]);
  useLayoutEffect(() => virtual.settle(rows, first));
  const wasWrapped = useRef(isWrapped);
  useLayoutEffect(() => {
    if (wasWrapped.current !== isWrapped) virtual.forgetHeights();
    wasWrapped.current = isWrapped;
  }, [virtual, isWrapped]);
  const toggle = useToggle(setOpenKeys, virtual);
  useEffect(() => listenForClicks(list.current, toggle), [toggle]);
  const shown = rows.slice(first, last);
  const tabStop = shown.some(({ key }) => key === focused) ? focused : shown.findLast(({ entry }) => entry)?.key;
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const from = rows.findIndex(({ key }) => key === keyOf(event.target));
    if (step === 0 || from === -1) return;
    event.preventDefault();
    let to = from + step;
    while (rows[to]?.mark) to += step;
    const target = rows[to];
    if (!target) return;
    virtual.hold();
    virtual.reveal(target.key);
    setFocused(target.key);
    requestAnimationFrame(() => buttonOf(list.current, target.key)?.focus({ preventScroll: true }));
  };
  const unseen = isAtEnd ? 0 : Math.max(0, total - seenTotal.current);
  return (
    <div className="log-frame" onKeyDown={move} role="presentation">
      <ScrollRegion ref={box} className={classOf({ isWrapped, hasNames, hasInstances })} label={label}>
        <div ref={canvas} className="log-canvas">
          <ol ref={list} className="log-lines">
            {shown.map((row, position) => (
              <LogLine
                key={row.key}
                row={row}
                position={first + position + 1}
                isOpen={openKeys.has(row.key)}
                isTabStop={row.key === tabStop}
                hasName={hasNames}
                hasInstance={hasInstances}
                onToggle={toggle}
              />
            ))}
          </ol>
        </div>
      </ScrollRegion>
      {!isAtEnd && (
        <div className="log-newest">
          <Button kind="primary" onPress={() => virtual.scrollToEnd()}>
            <Icon name="newest" /> Jump to newest{unseen > 0 && ` · ${unseen.toLocaleString("en-GB")} new`}
          </Button>
        </div>
      )}
    </div>
  );
}

function classOf({ isWrapped, hasNames, hasInstances }: Pick<LogListProps, "isWrapped" | "hasNames" | "hasInstances">): string {
  return ["log-box", isWrapped && "log-wrapped", hasNames && "log-names", hasInstances && "log-instances"].filter(Boolean).join(" ");
}

/** Returns a function that opens or closes a row. The list then stops scrolling to new rows, so that the row stays in place. */
function useToggle(setOpenKeys: (change: (open: ReadonlySet<string>) => ReadonlySet<string>) => void, virtual: VirtualRows) {
  const [toggle] = useState(() => (key: string) => {
    virtual.hold();
    setOpenKeys((open) => {
      const changed = new Set(open);
      if (!changed.delete(key)) changed.add(key);
      return changed;
    });
    // Scrolls down after the last row opens, because its details are below the visible part.
    requestAnimationFrame(() => virtual.reveal(key));
  });
  return toggle;
}

/** A click on the text opens the row, unless the user has selected text. Keyboard users press the row's button instead. */
function listenForClicks(list: HTMLElement | null, onRow: (key: string) => void): () => void {
  const end = new AbortController();
  const onClick = ({ target }: Event) => {
    const isControl = target instanceof Element && target.closest("button, a, .log-details") !== null;
    const key = keyOf(target);
    if (key === undefined || isControl || document.getSelection()?.isCollapsed === false) return;
    if (list && buttonOf(list, key)) onRow(key);
  };
  list?.addEventListener("click", onClick, { signal: end.signal });
  return () => end.abort();
}

function keyOf(target: EventTarget | null): string | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>("[data-row]") : null;
  return row?.dataset["row"];
}

function buttonOf(list: HTMLElement | null, key: string): HTMLElement | null | undefined {
  return list?.querySelector<HTMLElement>(`[data-row="${CSS.escape(key)}"] .log-toggle`);
}
