// Takes the screenshots in docs/images/ of a real daemon with sample data in a real browser. Run it after `npm run build`.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import chromium from "@sparticuz/chromium";
import { chromium as playwright } from "playwright-core";
import { openSampleHouse } from "./pictures/sample-house.mjs";

const directory = fileURLToPath(new URL("../docs/images/", import.meta.url));
const sizes = { wide: { width: 1280, height: 800 }, narrow: { width: 360, height: 740 } };

/** File name of each screenshot, with the page to show and a text that appears when the page is complete. */
const screens = {
  overview: { at: "overview", ready: "Isolates" },
  apps: { at: "apps", ready: "storefront" },
  app: { at: "apps/storefront", ready: "2.4.0" },
  "app-logs": { at: "apps/storefront/logs", ready: "order" },
  "app-files": { at: "apps/storefront/files?path=workers/storefront/2.5.0", ready: "manifest.yaml" },
  plugins: { at: "plugins", ready: "mailer" },
  plugin: { at: "plugins/@team/orders", ready: "At work" },
  "plugin-page": { at: "plugins/@team/orders?at=%2Forders%2F", ready: "Open in a tab" },
  keys: { at: "keys", ready: "ci-deploy" },
  "new-key": { at: "keys/new", ready: "Namespaces" },
};

const house = await openSampleHouse();
const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  headless: true,
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  await mkdir(directory, { recursive: true });
  for (const look of ["light", "dark"]) for (const [width, viewport] of Object.entries(sizes)) await take(look, width, viewport);
} finally {
  await browser.close();
  await house.close();
}

async function take(colorScheme, width, viewport) {
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
  const page = await context.newPage();
  const keep = async (name) => writeFile(path.join(directory, `${name}-${width}-${colorScheme}.png`), await page.screenshot());
  await page.goto(`${house.url}/cpanel/`);
  await page.getByLabel("API key").waitFor();
  await keep("sign-in");
  await page.getByLabel("API key").fill(house.rootKey);
  await page.getByRole("button", { name: "Sign in" }).click();
  for (const [name, { at, ready }] of Object.entries(screens)) {
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.goto(`${house.url}/cpanel/${at}`);
    await page.getByRole("main").getByText(ready).first().waitFor();
    await page.waitForLoadState("load");
    await keep(name);
  }
  await context.close();
}
