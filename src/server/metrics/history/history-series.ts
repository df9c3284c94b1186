import { sparklineMinutes, type HistoryMarker } from "../../../shared/contract/metrics-history.js";
import { IntervalCounts } from "./interval-counts.js";
import type { HistoryRecord } from "./history-records.js";
import { combineRows, type MetricRow } from "./metric-row.js";
import { MetricRing } from "./metric-ring.js";

/**
 * Maximum number of rows in each ring. `tens`: 1 h in intervals of 10 s. `minutes`: 24 h in intervals of 60 s. `quarterHours`: 14 days in
 * intervals of 900 s.
 */
const capacity = { tens: 360, minutes: 1440, quarterHours: 1344 } as const;
const minutesPerQuarterHour = 15;
/** Maximum number of markers in the history of a worker or of the daemon. */
export const keptMarkers = 500;
/** Estimated memory in bytes of a `HistorySeries` object without its rings and its counts of request durations. */
const objectBytes = 1024;

/** The complete history of a worker or of the daemon, combined from its file and from memory. */
export interface SeriesData {
  readonly minutes: MetricRing;
  readonly quarterHours: MetricRing;
  readonly markers: readonly HistoryMarker[];
}

/** The newest rows and markers of a worker or of the daemon, in memory. The file of the history does not contain all of them yet. */
export class HistorySeries {
  readonly name: string;
  readonly current = new IntervalCounts();
  readonly minutes = new MetricRing(capacity.minutes);
  /** Rows of the daemon, each for an interval of 10 s. Empty for a worker. */
  readonly tens = new MetricRing(capacity.tens);
  markers: HistoryMarker[] = [];
  /** True if memory contains rows or markers that the file does not contain. */
  hasUnwritten = false;

  /** Creates an empty series. An empty `name` stands for the daemon. */
  constructor(name: string) {
    this.name = name;
  }

  get sizeBytes(): number {
    return objectBytes + this.current.sizeBytes + this.minutes.sizeBytes + this.tens.sizeBytes;
  }

  addMarker(marker: HistoryMarker): void {
    this.markers = [...this.markers, marker].slice(-keptMarkers);
    this.hasUnwritten = true;
  }

  /** Adds the rows or markers of a record from the journal. */
  replay(record: HistoryRecord): void {
    this.hasUnwritten = true;
    if (record.kind === "markers") for (const marker of record.markers) this.addMarker(marker);
    if (record.kind === "rows") (record.stepSeconds === 10 ? this.tens : this.minutes).putEncoded(record.rows);
  }

  /**
   * Closes the current minute and returns its row. If the ring already contains a row for this minute, for example after a change of the
   * clock, returns both rows combined. Returns undefined for a minute without activity.
   */
  closeMinute(slot: number): MetricRow | undefined {
    const row = this.current.close(slot);
    if (!row) return undefined;
    this.hasUnwritten = true;
    return putCombined(this.minutes, row);
  }

  /** Frees the memory of all rows except the newest 60, which the sparkline shows. */
  trim(): void {
    this.minutes.keepNewest(sparklineMinutes);
  }

  /** Returns the records with which a new journal begins. After a restart, the daemon reads the last hour from these records. */
  recentRecords(): HistoryRecord[] {
    const records: HistoryRecord[] = [];
    if (this.minutes.length > 0)
      records.push({ kind: "rows", name: this.name, stepSeconds: 60, rows: this.minutes.encode(sparklineMinutes) });
    if (this.tens.length > 0) records.push({ kind: "rows", name: this.name, stepSeconds: 10, rows: this.tens.encode() });
    return records;
  }
}

/** Adds a row to a ring. If the ring contains a row with the same slot, combines both rows. Returns the row that is then in the ring. */
export function putCombined(ring: MetricRing, row: MetricRow): MetricRow {
  const earlier = ring.get(row.slot);
  const whole = earlier ? combineRows(row.slot, [earlier, row]) : row;
  ring.put(whole);
  return whole;
}

/** Combines the records of a file with the rows and markers in memory. Computes rows of 900 s from the rows of 60 s. */
export function combineHistory(
  records: readonly HistoryRecord[],
  recent: { readonly rows: readonly MetricRow[]; readonly markers: readonly HistoryMarker[] },
): SeriesData {
  const minutes = new MetricRing(capacity.minutes);
  const quarterHours = new MetricRing(capacity.quarterHours);
  const markers = new Map<string, HistoryMarker>();
  const addMarkers = (added: readonly HistoryMarker[]) => {
    for (const marker of added) markers.set(`${marker.at} ${marker.type} ${marker.worker ?? ""} ${marker.version ?? ""}`, marker);
  };
  for (const record of records) {
    if (record.kind === "markers") addMarkers(record.markers);
    if (record.kind === "rows") (record.stepSeconds === 900 ? quarterHours : minutes).putEncoded(record.rows);
  }
  for (const row of recent.rows) minutes.put(row);
  for (const quarterHour of new Set(recent.rows.map(({ slot }) => Math.ceil(slot / minutesPerQuarterHour)))) {
    const last = quarterHour * minutesPerQuarterHour;
    const rows = minutes.rows(last - minutesPerQuarterHour + 1, last);
    if (rows.length > 0) quarterHours.put(combineRows(quarterHour, rows));
  }
  addMarkers(recent.markers);
  return { minutes, quarterHours, markers: [...markers.values()].toSorted((one, other) => one.at - other.at).slice(-keptMarkers) };
}

/** Returns the records of a history for the file of a worker. */
export function recordsOf(name: string, { minutes, quarterHours, markers }: SeriesData): HistoryRecord[] {
  return [
    { kind: "rows", name, stepSeconds: 60, rows: minutes.encode() },
    { kind: "rows", name, stepSeconds: 900, rows: quarterHours.encode() },
    { kind: "markers", name, markers },
  ];
}
