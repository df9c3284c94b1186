import chromium from "@sparticuz/chromium";

/** Runs once before all tests: test files that unpacked the browser at the same time would start one that is still being written. */
export async function setup(): Promise<void> {
  await chromium.executablePath();
}
