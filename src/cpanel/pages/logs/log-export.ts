import type { ClientOf } from "../../../shared/client.js";
import { positionBefore } from "../../../shared/contract/entry-position.js";
import type { LogEntry } from "../../../shared/contract/worker-logs.js";
import { readEntries, type logOperations } from "./log-follower.js";
import type { LogQuery } from "./log-query.js";
import { entryText } from "./log-row.js";
import { missingEntriesText } from "./missing-entries.js";

/** Number of entries per request. The daemon accepts no larger number. */
const pageSize = 10_000;
/** Maximum number of entries in an export. If the log is larger, the export omits its oldest entries. */
const mostExported = 100_000;

export const exportFormats = {
  text: { title: "Text", extension: "log", type: "text/plain", lineOf: entryText },
  jsonl: { title: "JSONL", extension: "jsonl", type: "application/x-ndjson", lineOf: (entry: LogEntry) => JSON.stringify(entry) },
} as const;
export type ExportFormat = keyof typeof exportFormats;

/**
 * Exported entries, oldest first. `missing` is a text about daemons that sent no entries. The text is empty if all daemons sent entries.
 */
export interface ExportedEntries {
  readonly entries: readonly LogEntry[];
  readonly missing: string;
}

/** Reads all selected entries of all daemons, at most the newest 100,000. Throws the daemon's error. */
export async function readAllEntries(client: ClientOf<typeof logOperations>, query: LogQuery): Promise<ExportedEntries> {
  const pages: (readonly LogEntry[])[] = [];
  let missing = "";
  let before: string | undefined;
  for (let count = 0; count < mostExported;) {
    const page = await readEntries(client, query, { before, limit: pageSize });
    const { entries, hasMore } = page;
    pages.unshift(entries);
    count += entries.length;
    before = page.before ?? positionBefore(entries);
    missing = missingEntriesText(page.instances);
    // Stops at an empty page even if `hasMore` is true. The missing entries are then on a daemon that does not respond.
    if (!hasMore || entries.length === 0) break;
  }
  return { entries: pages.flat().slice(-mostExported), missing };
}

/** Returns the text of an export file, which contains the entries in the given order. */
export function exportText(entries: readonly LogEntry[], format: ExportFormat): string {
  const { lineOf } = exportFormats[format];
  return entries.map((entry) => `${lineOf(entry)}\n`).join("");
}
