import { markdownTable } from "./markdown-table.mjs";

const columns = ["Work", "Against", "Ours", "Theirs", "Ratio", "Target", "Verdict"];

/** Returns the rows as a Markdown table, with the notes below the table. */
export function tableOf(rows) {
  const notes = [...new Set(rows.flatMap(({ note }) => note ?? []))];
  const cells = rows.map((row) => [
    row.note === undefined ? row.work : `${row.work} (${notes.indexOf(row.note) + 1})`,
    row.against,
    row.ours,
    row.theirs,
    row.ratio === undefined ? "–" : `${row.ratio.toFixed(2)} ×`,
    targetText(row.target),
    verdictOf(row),
  ]);
  return `${markdownTable(columns, cells)}\n${notes.length === 0 ? "" : `\n${notes.map((note, index) => `${index + 1}. ${note}\n`).join("")}`}`;
}

/** Returns whether a row reaches its target as text, such as `met` or `not met`. */
export function verdictOf({ ratio, target, error }) {
  if (error !== undefined) return "failed";
  if (target === undefined) return "for the record";
  const value = target.value ?? ratio;
  if (value === undefined) return "not measured";
  const isMet = target.atLeast === undefined ? value <= target.atMost : value >= target.atLeast;
  if (!isMet) return "**not met**";
  return target.aim !== undefined && value >= target.aim ? "met, and the aim" : "met";
}

function targetText(target) {
  if (target === undefined) return "–";
  const unit = target.unit ?? "×";
  const limit = target.atLeast === undefined ? `≤ ${target.atMost} ${unit}` : `≥ ${target.atLeast} ${unit}`;
  return target.aim === undefined ? limit : `${limit} (aim ${target.aim})`;
}
