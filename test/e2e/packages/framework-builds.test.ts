import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowser } from "../../support/open-browser.js";
import { openStrictPage } from "../../support/open-strict-page.js";
import { run } from "../../support/pack-archive.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession, succeeded } from "../cli/shell-session.js";

/** Installing a template from the registry and building it takes up to 25 s with two cores. */
const buildTimeoutMs = 120_000;

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
});

afterAll(async () => {
  await browser?.close();
  await daemon?.dispose();
  await shell?.close();
});

/** Runs npm in a folder of the session, with the cache of the machine. */
async function npm(folder: string, ...words: readonly string[]): Promise<void> {
  const env = { ...process.env, npm_config_yes: "true", npm_config_audit: "false", npm_config_fund: "false" };
  await run("npm", [...words], { cwd: path.join(shell.home, folder), env });
}

/** Deploys a build as version 1.0.0 and returns the origin of its automatic host. */
async function deploy(build: string, name: string): Promise<string> {
  succeeded(await shell.run(`deploy ${build} --name ${name} --version 1.0.0`));
  return `http://${name}.localhost:${new URL(daemon.url).port}`;
}

const headingOf = (page: Page) => page.locator("h1").first().textContent();

describe("the default build of a framework, deployed at the worker's automatic host", () => {
  test.each(["react-ts", "vue-ts"])(
    "serves the page at / and at a client-side route (Vite template: %s)",
    { timeout: buildTimeoutMs },
    async (name) => {
      await npm("", "create", "vite@9.3.0", name, "--", "--template", name, "--no-interactive");
      await npm(name, "install");
      await npm(name, "run", "build");
      const origin = await deploy(`${name}/dist`, name);
      const { page, problems, count } = await openStrictPage(browser);

      await page.goto(`${origin}/`, { waitUntil: "networkidle" });
      const heading = await headingOf(page);
      await page.evaluate("history.pushState(null, '', '/orders/7')");
      await page.reload({ waitUntil: "networkidle" });

      expect(heading).toBe("Get started");
      expect(await headingOf(page)).toBe(heading);
      expect(count()).toBeGreaterThan(8);
      expect(problems).toEqual([]);
    },
  );

  test("serves each page of VitePress, even after a reload in the browser", { timeout: buildTimeoutMs }, async () => {
    await writeTree(shell.home, {
      "guide/package.json": JSON.stringify({ private: true, type: "module" }),
      "guide/create.js": `import { scaffold } from "vitepress";
scaffold({ root: "./docs", title: "Guide", description: "", theme: "default theme", useTs: true, injectNpmScripts: true });`,
    });
    await npm("guide", "install", "--save-dev", "vitepress@1.6.4");
    await run("node", ["create.js"], { cwd: path.join(shell.home, "guide") });
    await npm("guide", "run", "docs:build");
    const origin = await deploy("guide/docs/.vitepress/dist", "guide");
    const { page, problems, count } = await openStrictPage(browser);

    await page.goto(`${origin}/`, { waitUntil: "networkidle" });
    await page.getByRole("link", { name: "Markdown Examples" }).first().click();
    await page.waitForURL(`${origin}/markdown-examples.html`);
    await page.reload({ waitUntil: "networkidle" });
    expect(await headingOf(page)).toContain("Markdown Extension Examples");
    await page.goto(`${origin}/api-examples`, { waitUntil: "networkidle" });
    expect(await headingOf(page)).toContain("Runtime API Examples");

    expect(count()).toBeGreaterThan(20);
    expect(problems).toEqual([]);
  });
});
