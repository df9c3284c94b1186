// Takes the pictures in docs/images/ of a real daemon with sample data. Run it after `npm run build`, with file names to take only these.
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import chromium from "@sparticuz/chromium";
import { chromium as playwright } from "playwright-core";
import { openSampleDaemon } from "./pictures/sample-daemon.mjs";
import { takeDashboardPictures } from "./pictures/take-dashboard-pictures.mjs";
import { takePanelPictures } from "./pictures/take-panel-pictures.mjs";

const directory = fileURLToPath(new URL("../docs/images/", import.meta.url));
/** Names of the pictures to take, without size and theme, such as `overview` or `dashboard-keys`. All pictures if it is empty. */
const only = process.argv.slice(2);

const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  headless: true,
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  const daemon = await openSampleDaemon();
  try {
    await mkdir(directory, { recursive: true });
    await takeDashboardPictures({ browser, daemon, directory, only });
    await takePanelPictures({ browser, daemon, directory, only });
  } finally {
    await daemon.close();
  }
} finally {
  await browser.close();
}
