import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser } from "playwright-core";

/** No sandbox, since tests run as root; nothing that looks for hosts of its own. */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** A real Chromium, from npm. The caller closes it. */
export async function openBrowser(): Promise<Browser> {
  return await playwright.launch({ executablePath: await chromium.executablePath(), headless: true, args: flags });
}
