import type { ClientOf } from "../../../shared/client.js";
import type { LogEntry } from "../../../shared/contract/worker-logs.js";
import { readEntries, type logOperations } from "./log-follower.js";
import type { LogQuery } from "./log-query.js";
import { entryText } from "./log-row.js";

/** Number of entries per request. The daemon accepts no larger number. */
const pageSize = 10_000;
/** Maximum number of entries in an export. If the log is larger, the export omits its oldest entries. */
const mostExported = 100_000;

export const exportFormats = {
  text: { title: "Text", extension: "log", type: "text/plain", lineOf: entryText },
  jsonl: { title: "JSONL", extension: "jsonl", type: "application/x-ndjson", lineOf: (entry: LogEntry) => JSON.stringify(entry) },
} as const;
export type ExportFormat = keyof typeof exportFormats;

/** Reads all selected entries from the daemon, oldest first, at most the newest 100,000. Throws the daemon's error. */
export async function readAllEntries(client: ClientOf<typeof logOperations>, query: LogQuery): Promise<readonly LogEntry[]> {
  const pages: (readonly LogEntry[])[] = [];
  let before: string | undefined;
  for (let count = 0; count < mostExported;) {
    const page = await readEntries(client, query, { before, limit: pageSize });
    const { entries, hasMore } = page;
    pages.unshift(entries);
    count += entries.length;
    before = page.before;
    if (!hasMore || before === undefined) break;
  }
  return pages.flat().slice(-mostExported);
}

/** Returns the text of an export file, which contains the entries in the given order. */
export function exportText(entries: readonly LogEntry[], format: ExportFormat): string {
  const { lineOf } = exportFormats[format];
  return entries.map((entry) => `${lineOf(entry)}\n`).join("");
}
