import { formatSize } from "../../../shared/size.js";

const barColumns = 20;

/** How far bytes are on their way; of how many is not always known. */
export function progressText(bytes: number, totalBytes: number | undefined): string {
  if (totalBytes === undefined) return formatSize(bytes);
  const percent = Math.min(100, Math.floor((100 * bytes) / Math.max(1, totalBytes)));
  const filled = Math.round((percent * barColumns) / 100);
  return `${"#".repeat(filled)}${".".repeat(barColumns - filled)} ${percent} % of ${formatSize(totalBytes)}`;
}
