import { createHash } from "node:crypto";
import { access, cp, mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ShellSession, succeeded } from "../e2e/cli/shell-session.js";
import { openBrowser } from "../support/open-browser.js";
import { openStrictPage } from "../support/open-strict-page.js";
import { run } from "../support/pack-archive.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

/** Installing and building the largest template takes 90 s with two cores and an empty npm cache. */
const buildTimeoutMs = 400_000;
const templates = fileURLToPath(new URL("./", import.meta.url));
/** Installed and built templates, by the digest of their files. Outside of node_modules, where Next.js does not compile JSX. */
const builds = path.join(tmpdir(), "runtimectl-framework-builds");

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

async function digestOf(folder: string): Promise<string> {
  const hash = createHash("sha256").update(process.version);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  for (const file of files.toSorted()) hash.update(path.relative(folder, file)).update(await readFile(file));
  return hash.digest("hex").slice(0, 16);
}

/** Installs and builds a template, unless its lock file and sources were built before. Returns the folder. */
async function build(name: string): Promise<string> {
  const template = path.join(templates, name);
  const folder = path.join(builds, `${name}-${await digestOf(template)}`);
  const isBuilt = await access(folder).then(
    () => true,
    () => false,
  );
  if (isBuilt) return folder;
  const unfinished = `${folder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(builds, { recursive: true });
  await cp(template, unfinished, { recursive: true });
  const { NODE_ENV: _ofVitest, ...inherited } = process.env;
  const env = { ...inherited, ASTRO_TELEMETRY_DISABLED: "1", NEXT_TELEMETRY_DISABLED: "1", NUXT_TELEMETRY_DISABLED: "1" };
  await run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: unfinished, env });
  await run("npm", ["run", "build"], { cwd: unfinished, env });
  await rename(unfinished, folder);
  return folder;
}

/** Deploys a built template without flags, deploys a change, and rolls it back. */
async function deployTwiceAndRollBack(folder: string, name: string): Promise<void> {
  expect(succeeded(await shell.run(`deploy ${folder}`)).stderr).toContain(`${name} 1.0.0`);
  const file = path.join(folder, "package.json");
  const packageJson = await readFile(file, "utf8");
  await writeFile(file, packageJson.replace("{", '{ "description": "changed",'));
  try {
    expect(succeeded(await shell.run(`deploy ${folder}`)).stderr).toContain("1.0.1 is enabled, 1.0.0 stays installed");
  } finally {
    await writeFile(file, packageJson);
  }
  succeeded(await shell.run(`workers rollback ${name} --yes`));
}

/** Deploys a built template and opens its host. Checks that its script counts clicks. */
async function openDeployed(name: string): Promise<{ page: Page; problems: string[]; origin: string }> {
  const folder = await build(name);
  await deployTwiceAndRollBack(folder, name);
  const origin = `http://${name}.localhost:${new URL(daemon.url).port}`;
  const { page, problems } = await openStrictPage(browser);
  await page.goto(`${origin}/`, { waitUntil: "networkidle" });
  expect(await page.locator("h1").textContent()).toBe("Home");
  await page.getByRole("button", { name: "Count" }).click();
  await page.getByRole("button", { name: "Count 1" }).waitFor();
  return { page, problems, origin };
}

/** Follows links of the app to About and back, with a reload between. */
async function navigate(page: Page): Promise<void> {
  await page.getByRole("link", { name: "About" }).click();
  await page.getByRole("heading", { name: "About" }).waitFor();
  await page.reload({ waitUntil: "networkidle" });
  expect(await page.locator("h1").textContent()).toBe("About");
  await page.getByRole("link", { name: "Home" }).click();
  await page.getByRole("heading", { name: "Home" }).waitFor();
}

describe("the build of a framework, deployed as a worker", () => {
  test.each(["astro", "next", "nuxt", "react-router", "solid-start", "sveltekit", "tanstack-start"])(
    "runs scripts, navigation and a form in a browser (framework: %s)",
    { timeout: buildTimeoutMs },
    async (name) => {
      const { page, problems } = await openDeployed(name);
      await page.locator("input[name=name]").fill("Ann");
      await page.getByRole("button", { name: "Send" }).click();
      await page.getByText("Hello Ann").waitFor();
      await navigate(page);
      expect(problems).toEqual([]);
    },
  );

  test.each(["astro-static", "next-export"])(
    "runs scripts, links and a 404 page in a browser (framework: %s)",
    { timeout: buildTimeoutMs },
    async (name) => {
      const { page, problems, origin } = await openDeployed(name);
      await navigate(page);
      expect(problems).toEqual([]);
      const response = await page.goto(`${origin}/missing`);
      expect([response?.status(), await page.locator("h1").textContent()]).toEqual([404, "Nothing here"]);
    },
  );
});
