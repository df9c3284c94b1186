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

/** A real Chromium, from npm, that finds these host names at 127.0.0.1, such as `*.example.org`. The caller closes it. */
export async function openBrowser({ localHosts = [] }: { localHosts?: readonly string[] } = {}): Promise<Browser> {
  const rules = localHosts.map((host) => `MAP ${host} 127.0.0.1`).join(",");
  const args = rules === "" ? flags : [...flags, `--host-resolver-rules=${rules}`];
  return await playwright.launch({ executablePath: await chromium.executablePath(), headless: true, args });
}
