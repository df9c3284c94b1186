// Takes the pictures in docs/images/ of real daemons with sample data. Needs a build. Arguments select pictures by name.
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import chromium from "@sparticuz/chromium";
import { chromium as playwright } from "playwright-core";
import { openSampleDaemon } from "./pictures/sample-daemon.mjs";
import { openSampleInstances } from "./pictures/sample-instances.mjs";
import { takeDashboardPictures } from "./pictures/take-dashboard-pictures.mjs";
import { takePanelPictures } from "./pictures/take-panel-pictures.mjs";

const directory = fileURLToPath(new URL("../docs/images/", import.meta.url));
/** Names of the pictures to take, without size and theme, such as `overview` or `dashboard-keys`. An empty list selects all. */
const only = process.argv.slice(2);
/** Names of the pictures that need several daemons. */
const ofInstances = ["instances", "dashboard-instances"];

const browser = await playwright.launch({
  executablePath: await chromium.executablePath(),
  headless: true,
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  await mkdir(directory, { recursive: true });
  if (only.length === 0 || only.some((name) => !ofInstances.includes(name)))
    await takePictures(openSampleDaemon, (name) => !ofInstances.includes(name));
  if (only.length === 0 || only.some((name) => ofInstances.includes(name)))
    await takePictures(openSampleInstances, (name) => ofInstances.includes(name));
} finally {
  await browser.close();
}

/** Takes those pictures for which `isOf(name)` is true, of the daemon that `openDaemon` starts. */
async function takePictures(openDaemon, isOf) {
  const isWanted = (name) => isOf(name) && (only.length === 0 || only.includes(name));
  const daemon = await openDaemon();
  try {
    await takeDashboardPictures({ browser, daemon, directory, isWanted });
    await takePanelPictures({ browser, daemon, directory, isWanted });
  } finally {
    await daemon.close();
  }
}
