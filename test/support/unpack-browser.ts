import chromium from "@sparticuz/chromium";

/** Runs once before all tests: two test files that unpack the browser at the same time would start an incomplete one. */
export async function setup(): Promise<void> {
  await chromium.executablePath();
}
