import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import type { LogLevel } from "../../../shared/contract/worker-logs.js";
import { countLevels, countText, type LevelCounts } from "./level-counts.js";
import { timeRangeOf, type LogQuery } from "./log-query.js";
import type { LogRow } from "./log-row.js";

/** Minimum interval between two updates of the histogram, in milliseconds. */
const updateMs = 1000;
/** Levels in the order in which a column stacks them, from bottom to top. */
const levels: readonly LogLevel[] = ["debug", "info", "warn", "error"];
const heightPx = 40;

interface LogHistogramProps extends Pick<LogQuery, "since" | "until"> {
  readonly rows: readonly LogRow[];
  /** Whether the daemon has older entries that are not in `rows`. */
  readonly isPartial: boolean;
  /** Callback that receives the selected range as Unix times in milliseconds. The range excludes its end. */
  readonly onSelect: (sinceMs: number, untilMs: number) => void;
}

/**
 * Chart with the number of entries of each level over the chosen range. A click selects one interval. A drag, or Shift with an arrow key,
 * selects several intervals. If older entries are not loaded, the chart marks where the loaded entries begin.
 */
export function LogHistogram({ rows, since, until, isPartial, onSelect }: LogHistogramProps) {
  const counted = useThrottled(rows);
  const counts = useMemo(() => countLevels(counted, timeRangeOf({ since, until }, Date.now())), [counted, since, until]);
  const [picked, setPicked] = useState<{ readonly from: number; readonly to: number }>();
  const isDragging = useRef(false);
  if (!counts) return null;
  const last = counts.counts.error.length - 1;
  const at = ({ currentTarget, clientX }: PointerEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.min(last, Math.max(0, Math.floor(((clientX - left) / width) * (last + 1))));
  };
  const select = ({ from, to }: { from: number; to: number }) => {
    setPicked(undefined);
    onSelect(timeOf(counts, Math.min(from, to)), timeOf(counts, Math.max(from, to) + 1));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const current = picked ?? { from: last, to: last };
    if (event.key === "Enter") return select(current);
    const to = { ArrowLeft: current.to - 1, ArrowRight: current.to + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const bounded = Math.min(last, Math.max(0, to));
    setPicked({ from: event.shiftKey ? current.from : bounded, to: bounded });
  };
  const shown = picked ?? { from: last, to: last };
  const text = rangeText(counts, shown);
  const unloaded = isPartial ? Math.max(0, (counts.oldestMs - counts.startMs) / counts.intervalMs) : 0;
  return (
    <div className="log-histogram">
      <div
        role="slider"
        tabIndex={0}
        aria-label="Time range: press Enter to select the interval"
        aria-valuemin={0}
        aria-valuemax={last}
        aria-valuenow={shown.to}
        aria-valuetext={text}
        className="log-histogram-plot"
        onKeyDown={onKeyDown}
        onFocus={() => setPicked((known) => known ?? { from: last, to: last })}
        onBlur={() => setPicked(undefined)}
        onPointerDown={(event) => {
          isDragging.current = true;
          event.currentTarget.setPointerCapture(event.pointerId);
          setPicked({ from: at(event), to: at(event) });
        }}
        onPointerMove={(event) => {
          const to = at(event);
          setPicked((known) => ({ from: isDragging.current && known ? known.from : to, to }));
        }}
        onPointerUp={(event) => {
          isDragging.current = false;
          select({ from: picked?.from ?? at(event), to: at(event) });
        }}
        onPointerLeave={() => !isDragging.current && setPicked(undefined)}
      >
        <svg viewBox={`0 0 ${last + 1} ${heightPx}`} preserveAspectRatio="none" width="100%" height={heightPx} aria-hidden="true">
          {unloaded > 0 && (
            <>
              <rect className="log-histogram-unloaded" width={unloaded} height={heightPx} />
              <path className="log-histogram-begin" d={`M${unloaded} 0V${heightPx}`} />
            </>
          )}
          {picked && (
            <rect
              className="log-histogram-picked"
              x={Math.min(picked.from, picked.to)}
              width={Math.abs(picked.to - picked.from) + 1}
              height={heightPx}
            />
          )}
          {levels.map((level) => (
            <path key={level} className={`log-bar-${level}`} d={columnsOf(counts, level)} />
          ))}
        </svg>
      </div>
      <p className="log-histogram-note quiet small">
        {picked ? text : `${timeText(counts.startMs)} – ${timeText(timeOf(counts, last + 1))} · select a range to narrow the list`}
        {!picked && isPartial && ` · entries before ${timeText(counts.oldestMs)} are not loaded`}
      </p>
    </div>
  );
}

function timeOf({ startMs, intervalMs }: LevelCounts, index: number): number {
  return startMs + index * intervalMs;
}

/** Returns the SVG path for the columns of one level. The columns stand on the columns of the previous levels. */
function columnsOf({ counts, most }: LevelCounts, level: LogLevel): string {
  const below = levels.slice(0, levels.indexOf(level));
  const parts: string[] = [];
  for (const [index, count] of counts[level].entries()) {
    if (count === 0) continue;
    const bottom = below.reduce((sum, other) => sum + (counts[other][index] ?? 0), 0);
    const y = heightPx - (bottom / most) * heightPx;
    // Minimum height of a column in SVG units. A single error among thousands of entries stays visible.
    const height = Math.max(1.5, (count / most) * heightPx);
    parts.push(`M${index + 0.1} ${y.toFixed(2)}h.8v${(-height).toFixed(2)}h-.8z`);
  }
  return parts.join("");
}

function rangeText(counts: LevelCounts, { from, to }: { from: number; to: number }): string {
  const [first, final] = from < to ? [from, to] : [to, from];
  const range = `${timeText(timeOf(counts, first))} – ${timeText(timeOf(counts, final + 1))}`;
  return first === final ? `${range}: ${countText(counts, first)}` : range;
}

const clock = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });

function timeText(atMs: number): string {
  return clock.format(atMs);
}

/** Returns the newest value, but updates it at most once per interval. */
function useThrottled<Value>(value: Value): Value {
  const [shown, setShown] = useState(value);
  const newest = useRef(value);
  const changedAtMs = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    newest.current = value;
    timer.current ??= setTimeout(
      () => {
        timer.current = undefined;
        changedAtMs.current = performance.now();
        setShown(newest.current);
      },
      Math.max(0, changedAtMs.current + updateMs - performance.now()),
    );
  }, [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return shown;
}
