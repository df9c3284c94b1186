/** Replaces everything in a window's text that differs between runs by text of the same length. */
export function steadyText(text: string): string {
  return text
    .replace(/127\.0\.0\.1:\d+/g, (found) => found.replace(/\d/g, "0"))
    .replace(/runtimed-test-\w+/g, (found) => "runtimed-test-".padEnd(found.length, "x"))
    .replace(/rtk_[\w-]+/g, (found) => "rtk_".padEnd(found.length, "x"))
    .replace(/\d{4}-\d\d-\d\d/g, "2000-01-01")
    .replace(/\d\d:\d\d UTC/g, "00:00 UTC")
    .replace(/\b[1-9]m ago\b/g, "now   ")
    .replace(/\bin \d+(?=d\b)/g, (found) => found.replace(/\d/g, "0"));
}
