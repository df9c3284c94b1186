const width = 240;
const height = 48;
const mostPoints = 60;

/** A small line chart. Screen readers receive the latest and the highest value as text. */
export function Plot({ label, values, format }: { label: string; values: readonly number[]; format: (value: number) => string }) {
  const highest = Math.max(...values, 0);
  const top = highest === 0 ? 1 : highest;
  const xOf = (index: number) => ((mostPoints - values.length + index) / (mostPoints - 1)) * width;
  const yOf = (value: number) => height - 1 - (value / top) * (height - 4);
  const line = values.map((value, index) => `${xOf(index).toFixed(1)},${yOf(value).toFixed(1)}`).join(" ");
  const [first] = values.length > 0 ? [xOf(0).toFixed(1)] : ["0"];
  return (
    <svg
      className="plot"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: now ${format(values.at(-1) ?? 0)}, at most ${format(highest)}`}
    >
      <line className="plot-ground" x1="0" x2={width} y1={height - 1} y2={height - 1} />
      {values.length > 1 && <polygon className="plot-area" points={`${first},${height} ${line} ${width},${height}`} />}
      {values.length > 1 && <polyline className="plot-line" points={line} />}
    </svg>
  );
}
