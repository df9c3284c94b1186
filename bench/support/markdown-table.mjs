/** Lines of a table in Markdown; `columns` and each of `rows` are lists of texts. */
export function markdownTable(columns, rows) {
  return [columns, columns.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
