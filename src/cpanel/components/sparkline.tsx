import "./sparkline.css";

const width = 120;
const height = 24;

interface SparklineProps {
  /** Description for screen readers, such as `Requests per minute in the last hour`. */
  readonly label: string;
  /** Values at equal distances, oldest first. */
  readonly values: readonly number[];
  /**
   * Number of values that fill the full width. If there are fewer values, the line starts further to the right. Default: the number of
   * values.
   */
  readonly capacity?: number;
  /** Returns the text of a value for screen readers. */
  readonly format: (value: number) => string;
  readonly tone?: "accent" | "warn" | "bad";
}

/** A small line chart without axes. Screen readers receive the latest and the highest value as text. */
export function Sparkline({ label, values, capacity = values.length, format, tone = "accent" }: SparklineProps) {
  const highest = Math.max(...values, 0);
  const text = values.length === 0 ? `${label}: no data` : `${label}: now ${format(values.at(-1) ?? 0)}, at most ${format(highest)}`;
  const line = linePath(values, { capacity, highest });
  return (
    <svg
      className={`sparkline sparkline-${tone}`}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={text}
    >
      <path className="sparkline-ground" d={`M0 ${height - 0.5}H${width}`} />
      {line !== "" && <path className="sparkline-area" d={`${line}V${height}H${firstX(values.length, capacity).toFixed(1)}z`} />}
      {line !== "" && <path className="sparkline-line" d={line} />}
    </svg>
  );
}

/** Returns the SVG path through all values. A single value forms no line, so the path is empty for fewer than two values. */
export function linePath(values: readonly number[], { capacity, highest }: { capacity: number; highest: number }): string {
  if (values.length < 2) return "";
  const first = firstX(values.length, capacity);
  const step = (width - first) / (values.length - 1);
  const top = highest === 0 ? 1 : highest;
  const points = values.map(
    (value, index) => `${(first + index * step).toFixed(1)} ${(height - 1 - (value / top) * (height - 3)).toFixed(1)}`,
  );
  return `M${points.join("L")}`;
}

function firstX(count: number, capacity: number): number {
  return capacity <= count ? 0 : ((capacity - count) / (capacity - 1)) * width;
}
