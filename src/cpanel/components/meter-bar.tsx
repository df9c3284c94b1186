import "./meter-bar.css";

/** Share of the limit from which the bar has the color of a warning. */
const highShare = 0.9;

/** A bar that shows a value as a share of its limit. The text beside it must contain the value. */
export function MeterBar({ value, limit }: { value: number; limit: number }) {
  const share = limit === 0 ? 0 : Math.min(1, value / limit);
  return (
    <svg
      className={share >= highShare ? "meter-bar meter-bar-high" : "meter-bar"}
      viewBox="0 0 100 4"
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d="M0 2H100" />
      {share > 0 && <path className="meter-bar-value" d={`M0 2H${(share * 100).toFixed(1)}`} />}
    </svg>
  );
}
