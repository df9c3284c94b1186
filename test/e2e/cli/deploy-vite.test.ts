import { symlink } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../../support/open-browser.js";
import { openStrictPage } from "../../support/open-strict-page.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession, succeeded } from "./shell-session.js";

/** The packages of this project, which contain Vite. */
const installed = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const icon = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><g id="dot"><circle cx="4" cy="4" r="4" /></g></svg>';
/** Larger than 4 KB, so that Vite writes a file instead of a data URL. */
const picture = `${icon}<!--${"x".repeat(5000)}-->`;

/** An app in the form of Vite's templates: files of the build, files of `public`, and modules and style sheets loaded later. */
const app = {
  "package.json": JSON.stringify({ name: "shop", type: "module", scripts: { build: "vite build" }, devDependencies: { vite: "8" } }),
  "index.html": '<!doctype html><link rel="icon" href="/favicon.svg"><body><script type="module" src="/src/main.js"></script>',
  "public/favicon.svg": icon,
  "public/icons.svg": icon,
  "src/logo.svg": picture,
  "src/later.svg": picture.replaceAll("9", "8"),
  "src/main.css": "body { background: url(./later.svg) }",
  "src/main.js": `import "./main.css";
import logo from "./logo.svg";
document.body.innerHTML = \`<h1>Shop</h1><img src="\${logo}"><svg width="9" height="9"><use href="/icons.svg#dot"></use></svg><button>More</button>\`;
document.querySelector("button").onclick = async () => (await import("./later.js")).show();
`,
  "src/later.css": "h2 { color: rgb(0, 128, 128); background: url(/icons.svg) }",
  "src/later.js": `import "./later.css";
import later from "./later.svg";
import { text } from "./text.js";
export const show = () => document.body.insertAdjacentHTML("beforeend", \`<h2>\${text}</h2><img src="\${later}"><img src="/favicon.svg?v=1">\`);
`,
  "src/text.js": 'export const text = "Later";',
};

let daemon: TestDaemon;
let shell: ShellSession;
let browser: Browser;

beforeAll(async () => {
  [daemon, shell, browser] = await Promise.all([
    startDaemon({ env: { RUNTIME_APP_DOMAIN: "localhost" } }),
    ShellSession.open(),
    openBrowser(),
  ]);
  await shell.signIn(daemon);
  await writeTree(shell.home, Object.fromEntries(Object.entries(app).map(([file, content]) => [`shop/${file}`, content])));
  await symlink(installed, path.join(shell.home, "shop/node_modules"));
});

afterAll(async () => {
  await browser?.close();
  await daemon?.dispose();
  await shell?.close();
});

test("an unchanged Vite app works completely at its base path and at its host name", { timeout: 90_000 }, async () => {
  const { stderr } = succeeded(await shell.run("deploy --build shop"));
  expect(stderr).not.toContain("warning");
  for (const url of [`${daemon.url}/shop/`, `${daemon.url}/shop@0.1.0/`, `http://shop.localhost:${new URL(daemon.url).port}/`]) {
    const { page, problems } = await openStrictPage(browser);
    await page.goto(url, { waitUntil: "networkidle" });
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("heading", { name: "Later" }).waitFor();
    await page.waitForLoadState("networkidle");
    await expect.poll(() => page.evaluate("[...document.images].map((image) => image.naturalWidth)")).toEqual([9, 8, 9]);
    expect(await page.evaluate("document.querySelector('use').getBBox().width")).toBe(8);
    expect(await page.evaluate("getComputedStyle(document.querySelector('h2')).color")).toBe("rgb(0, 128, 128)");
    expect(problems).toEqual([]);
    await page.close();
  }
});
