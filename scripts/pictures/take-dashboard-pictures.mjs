// Takes the pictures of the dashboard: runs `runtimectl tui` in a pseudo-terminal and draws its screen with the fonts of the panel.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import headless from "@xterm/headless";
import { screenPage } from "./terminal-page.mjs";

const runtimectl = fileURLToPath(new URL("../../bin/runtimectl.js", import.meta.url));
const fontFile = fileURLToPath(import.meta.resolve("@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2"));
const sizes = [
  { columns: 80, rows: 24 },
  { columns: 140, rows: 45 },
];
const readyTimeoutMs = 20_000;

/** File name of each picture, with the keys that open the screen and a text that appears when the screen is complete. */
const screens = [
  { name: "overview", keys: "1", ready: "@team/invoices" },
  { name: "workers", keys: "2", ready: "checkout" },
  { name: "plugins", keys: "3", ready: "mailer" },
  { name: "keys", keys: "4", ready: "ci-deploy" },
  { name: "files", keys: "5\r", ready: "storefront" },
  { name: "logs", keys: "6", ready: "price of" },
  { name: "hosts", keys: "7", ready: "shop.example.org" },
  { name: "connect", keys: "8", ready: "staging" },
  { name: "instances", keys: "9", ready: "draining" },
  { name: "help", keys: "2?", ready: "rollback" },
];

/** Writes a picture of each screen for which `isWanted(name)` is true, for each size. */
export async function takeDashboardPictures({ browser, daemon, directory, isWanted }) {
  const font = (await readFile(fontFile)).toString("base64");
  const context = await browser.newContext();
  const page = await context.newPage();
  for (const size of sizes) {
    const terminal = await openTerminal(daemon, size);
    await terminal.waitFor("Overview");
    for (const { name, keys, ready } of screens) {
      if (!isWanted(`dashboard-${name}`)) continue;
      for (const key of keys) await terminal.press(key);
      await terminal.waitFor(ready);
      await terminal.settle();
      await page.setContent(screenPage(terminal.screen, font));
      await page.evaluate(() => document.fonts.ready);
      const image = await page.locator("#screen").screenshot();
      await writeFile(path.join(directory, `dashboard-${name}-${size.columns}x${size.rows}.png`), image);
      if (name === "help") await terminal.press("\u001b");
    }
    await terminal.close();
  }
  await context.close();
}

async function openTerminal(daemon, { columns, rows }) {
  const screen = new headless.Terminal({ cols: columns, rows, allowProposedApi: true });
  const home = path.join(daemon.directory, "home");
  await mkdir(home, { recursive: true });
  const environment = {
    PATH: process.env.PATH,
    HOME: home,
    SHELL: "/bin/sh",
    TERM: "xterm-256color",
    COLORTERM: "truecolor",
    RUNTIMECTL_CONFIG_DIR: path.join(home, "config"),
  };
  await signIn(daemon, environment);
  const line = `stty rows ${rows} cols ${columns}; exec "${process.execPath}" "${runtimectl}" tui`;
  const child = spawn("script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"], {
    cwd: home,
    env: environment,
  });
  child.stdout.on("data", (chunk) => screen.write(chunk));
  const ended = new Promise((resolve) => child.once("close", resolve));
  const text = () => Array.from({ length: rows }, (_, row) => screen.buffer.active.getLine(row)?.translateToString(true) ?? "").join("\n");
  return {
    screen,
    waitFor: async (expected) => {
      const deadline = Date.now() + readyTimeoutMs;
      while (!text().includes(expected)) {
        if (Date.now() > deadline) throw new Error(`The dashboard does not show ${expected}:\n${text()}`);
        await pause(100);
      }
    },
    /** Waits for data that arrive after the first frame, such as details. */
    settle: () => pause(2500),
    press: async (key) => {
      child.stdin.write(key);
      await pause(300);
    },
    close: async () => {
      child.stdin.write("q");
      await ended;
      screen.dispose();
    },
  };
}

/** Stores the profiles that the screen Connect shows, with `local` as the current one. */
async function signIn({ url, panelKey }, environment) {
  for (const profile of ["staging", "local"]) {
    const command = execFile(process.execPath, [runtimectl, "auth", "login", "--url", url, "--profile", profile, "--key-stdin"], {
      env: environment,
    });
    command.stdin.end(panelKey);
    const [code] = await once(command, "exit");
    if (code !== 0) throw new Error(`runtimectl auth login ended with ${code}`);
  }
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
