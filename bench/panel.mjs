// Measures the largest contentful paint (LCP) of the panel's sign-in page and Overview on a slow connection. Prints all values and the
// median. Starts the daemon with the sample data of `npm run pictures`, so the charts show a history of two weeks.
import chromium from "@sparticuz/chromium";
import { chromium as browsers } from "playwright-core";
import { openSampleDaemon } from "../scripts/pictures/sample-daemon.mjs";

const loads = 5;
const latencyMs = 150;
const bytesPerSecond = 1_600_000 / 8;
/** Time after the load event in which a later and larger paint counts. */
const settleMs = 3_000;

const daemon = await openSampleDaemon();
const browser = await browsers.launch({ executablePath: await chromium.executablePath(), args: ["--no-sandbox", "--disable-gpu"] });
try {
  for (const [page, limitMs, isSignedIn] of [
    ["sign-in", 1_500, false],
    ["overview", 2_500, true],
  ]) {
    const values = [];
    for (let load = 0; load < loads; load += 1) values.push(await measure(page, isSignedIn));
    const median = values.toSorted((one, other) => one - other)[Math.floor(loads / 2)];
    console.log(`${page}: LCP ${values.map((value) => `${value} ms`).join(", ")}; median ${median} ms (at most ${limitMs} ms)`);
  }
} finally {
  await browser.close();
  await daemon.close();
}

/** Returns the LCP in milliseconds of one load in a new browser context with an empty cache. */
async function measure(name, isSignedIn) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  try {
    if (isSignedIn) await signIn(page);
    const session = await context.newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.clearBrowserCache");
    await session.send("Network.emulateNetworkConditions", {
      offline: false,
      latency: latencyMs,
      downloadThroughput: bytesPerSecond,
      uploadThroughput: bytesPerSecond,
    });
    await page.addInitScript(`globalThis.paints = [];
      new PerformanceObserver((list) => paints.push(...list.getEntries().map(({ startTime, element }) => [startTime, element?.className])))
        .observe({ type: "largest-contentful-paint", buffered: true });`);
    await page.goto(`${daemon.url}/cpanel/${isSignedIn ? name : ""}`, { waitUntil: "load" });
    await page.waitForTimeout(settleMs);
    return Math.round(await page.evaluate("paints.at(-1)[0]"));
  } finally {
    await context.close();
  }
}

async function signIn(page) {
  await page.goto(`${daemon.url}/cpanel/`);
  await page.getByLabel("API key").fill(daemon.rootKey);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
}
