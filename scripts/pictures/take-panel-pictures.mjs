// Takes the pictures of the control panel.
import { writeFile } from "node:fs/promises";
import path from "node:path";

const sizes = { wide: { width: 1440, height: 900 }, narrow: { width: 360, height: 740 } };

/**
 * File name of each picture, with the page to show and a text that appears when the page is complete. `part`
 * is a selector of a part that loads later, and `open` opens a part of the page, such
 * as a dialog.
 */
const screens = {
  overview: { at: "overview", ready: "@team/invoices", part: "canvas" },
  apps: { at: "apps", ready: "storefront" },
  app: { at: "apps/@team/invoices", ready: "1.3.0", part: "canvas" },
  "app-deployments": { at: "apps/storefront/deployments", ready: "2.4.0" },
  "app-logs": { at: "apps/@team/invoices/logs?since=1h", ready: "Logs", part: ".log-line" },
  "app-configuration": { at: "apps/storefront/configuration", ready: "STRIPE_KEY" },
  "app-schedules": { at: "apps/storefront/schedules", ready: "/jobs/stock" },
  "app-files": { at: "apps/storefront/files?path=workers/storefront/2.5.0", ready: "manifest.yaml" },
  "app-editor": {
    at: "apps/storefront/files?path=workers/storefront/2.5.0&file=index.js",
    ready: "index.js",
    part: ".code-editor:not([hidden])",
  },
  logs: { at: "logs?since=1h", ready: "Logs", part: ".log-line" },
  activity: { at: "activity", ready: "Activity", part: "tbody tr" },
  plugins: { at: "plugins", ready: "mailer" },
  plugin: { at: "plugins/mailer", ready: "sender" },
  "plugin-page": { at: "plugins/@team/orders?at=%2Forders%2F", ready: "Open in a tab" },
  instances: { at: "instances", ready: "1 of 2 instances ready", part: "tbody tr" },
  hosts: { at: "hosts", ready: "shop.example.org" },
  keys: { at: "keys", ready: "ci-deploy" },
  "new-key": { at: "keys/new", ready: "Namespaces" },
  settings: { at: "settings", ready: "Directories", part: "tbody tr" },
  "command-menu": { at: "overview", ready: "@team/invoices", part: "canvas", open: openCommandMenu },
};

/** Writes a picture of each screen for which `isWanted(name)` is true, for each size and theme. */
export async function takePanelPictures({ browser, daemon, directory, isWanted }) {
  const wanted = Object.entries(screens).filter(([name]) => isWanted(name));
  for (const colorScheme of ["light", "dark"])
    for (const [size, viewport] of Object.entries(sizes)) {
      const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
      context.setDefaultTimeout(15_000);
      const page = await context.newPage();
      const take = async (name) => {
        await writeFile(path.join(directory, `${name}-${size}-${colorScheme}.png`), await page.screenshot());
      };
      await page.goto(`${daemon.url}/cpanel/`);
      await page.getByLabel("API key").waitFor();
      if (isWanted("sign-in")) await take("sign-in");
      await page.getByLabel("API key").fill(daemon.panelKey);
      await page.getByRole("button", { name: "Sign in" }).click();
      for (const [name, screen] of wanted) {
        await page.getByRole("heading", { level: 1 }).waitFor();
        await show(page, `${daemon.url}/cpanel/`, screen);
        await take(name);
      }
      await context.close();
    }
}

async function show(page, panel, { at, ready, part, open }) {
  await page.goto(panel + at);
  await page.getByRole("main").getByText(ready).first().waitFor();
  if (part !== undefined) await page.locator(part).first().waitFor();
  await page.waitForLoadState("load");
  await page.evaluate(() => document.fonts.ready);
  await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null);
  // The sample daemon has no host of its own for the panel, which a warning above each page reports.
  await page.getByRole("button", { name: "Hide" }).first().click();
  await open?.(page);
}

async function openCommandMenu(page) {
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("option").first().waitFor();
}
