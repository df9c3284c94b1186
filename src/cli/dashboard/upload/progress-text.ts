import { formatSize } from "../../../shared/size.js";

const barColumns = 20;

/** Returns the progress of a transfer as text. If the total is unknown, returns only the size of the transferred part. */
export function progressText(bytes: number, totalBytes: number | undefined): string {
  if (totalBytes === undefined) return formatSize(bytes);
  const percent = Math.min(100, Math.floor((100 * bytes) / Math.max(1, totalBytes)));
  const filled = Math.round((percent * barColumns) / 100);
  return `${"#".repeat(filled)}${".".repeat(barColumns - filled)} ${percent} % of ${formatSize(totalBytes)}`;
}
