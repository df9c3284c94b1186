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
  "--disable-quic",
  "--no-first-run",
];

interface BrowserOptions {
  /** Host names that lead to 127.0.0.1, such as `*.example.org`. */
  readonly localHosts?: readonly string[];
  /** Port to which Chromium connects for these host names, regardless of the port in the URL. */
  readonly localPort?: number;
}

/** Opens Chromium from npm. The caller closes it. */
export async function openBrowser({ localHosts = [], localPort }: BrowserOptions = {}): Promise<Browser> {
  const address = localPort === undefined ? "127.0.0.1" : `127.0.0.1:${localPort}`;
  const rules = localHosts.map((host) => `MAP ${host} ${address}`).join(",");
  const args = rules === "" ? flags : [...flags, `--host-resolver-rules=${rules}`];
  // File names that are not ASCII need a UTF-8 locale.
  const env = { ...process.env, LANG: "C.UTF-8" };
  return await playwright.launch({ executablePath: await chromium.executablePath(), headless: true, args, env });
}
