import type { HistoryRange } from "../../../shared/contract/metrics-history.js";
import { Segments } from "../../components/segments.js";
import { useSearch } from "../../router/use-search.js";
import { rangeOf, rangeTitles } from "./metrics-history.js";

const segments = Object.entries(rangeTitles).map(([value, title]) => ({ value, title: `Last ${title}` }));

/** Returns the period of the charts, which is in the query of the page's URL, and a function that changes it. */
export function useRange(): readonly [HistoryRange, (range: string) => void] {
  const [text, setText] = useSearch("range");
  return [rangeOf(text), (range) => setText(range === "1h" ? "" : range)];
}

/** Chooses the period of the charts: the last 1 h, 24 h or 14 d. */
export function RangeChoice() {
  const [range, setRange] = useRange();
  return <Segments label="Period" segments={segments} value={range} onChange={setRange} />;
}
