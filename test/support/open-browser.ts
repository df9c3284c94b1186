import chromium from "@sparticuz/chromium";
import { chromium as playwright, type Browser } from "playwright-core";

/** Disables the sandbox, because tests run as root, and features that connect to other hosts. */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** Opens Chromium from npm, which resolves these host names to 127.0.0.1, such as `*.example.org`. The caller closes it. */
export async function openBrowser({ localHosts = [] }: { localHosts?: readonly string[] } = {}): Promise<Browser> {
  const rules = localHosts.map((host) => `MAP ${host} 127.0.0.1`).join(",");
  const args = rules === "" ? flags : [...flags, `--host-resolver-rules=${rules}`];
  return await playwright.launch({ executablePath: await chromium.executablePath(), headless: true, args });
}
