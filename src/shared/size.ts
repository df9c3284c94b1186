const unitBytes = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 } as const;
const sizePattern = /^(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)?$/i;

/** Parses a size to bytes: `10mb`, `64kb`, `1gb` (factors of 1024), or a number of bytes. Returns undefined for any other value. */
export function parseSizeBytes(value: string | number): number | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  const match = sizePattern.exec(value);
  if (!match) return undefined;
  const bytes = Math.floor(Number(match[1]) * unitBytes[(match[2] ?? "b").toLowerCase() as keyof typeof unitBytes]);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Formats bytes for display: `12 B`, `48.2 kB`, `1.3 MB`, with factors of 1024. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)} ${units[unit]}`;
}

/**
 * Returns a size as it is written in a manifest or variable: `64kb` or `1gb`, or the number of bytes if the size is not a multiple of a
 * unit.
 */
export function writtenSize(bytes: number): string | number {
  const unit = (["gb", "mb", "kb"] as const).find((each) => bytes >= unitBytes[each] && bytes % unitBytes[each] === 0);
  return unit === undefined ? bytes : `${bytes / unitBytes[unit]}${unit}`;
}
