/** Returns the lines of a Markdown table. `columns` and each row in `rows` are lists of texts. */
export function markdownTable(columns, rows) {
  return [columns, columns.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
