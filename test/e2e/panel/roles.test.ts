import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Permission } from "../../../src/shared/permissions.js";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { expectAccessible } from "./expect-accessible.js";
import { PanelBrowser, signIn } from "./panel-browser.js";
import { startPathProxy, type PathProxy } from "./path-proxy.js";

let daemon: TestDaemon;
let proxy: PathProxy;
let browser: PanelBrowser;

beforeAll(async () => {
  [daemon, browser] = await Promise.all([startDaemon({ env: { RUNTIME_API_PREFIX: "/_" } }), PanelBrowser.open()]);
  proxy = await startPathProxy(daemon.url, "/tools/runtime");
  const client = connect(daemon.url, daemon.rootKey, { apiBase: "/_/api" });
  await client.keys.create({ body: { name: "another", role: "viewer" } });
  for (const name of ["@team/shop", "todos"]) {
    const files = { "manifest.yaml": manifestOf(name, "1.0.0"), "index.html": "<h1>Hello</h1>" };
    await client.workers.upload({ file: uploadOf("app.tgz", await packFiles(files)) });
  }
});
afterAll(async () => {
  await Promise.all([daemon.dispose(), browser.close(), proxy.close()]);
});

interface Principal {
  readonly role: "admin" | "editor" | "viewer" | "custom";
  readonly permissions?: Permission[];
  readonly namespaces?: string[];
}

async function keyOf({ role, permissions, namespaces }: Principal): Promise<string> {
  const body = { name: `${role}-key`, role, ...(permissions ? { permissions } : {}), ...(namespaces ? { namespaces } : {}) };
  return (await connect(daemon.url, daemon.rootKey, { apiBase: "/_/api" }).keys.create({ body })).data.key;
}

/** Visible apps, whether the lists of plugins and keys are visible, and whether a key can be created. */
const cases: readonly [string, Principal | "root", { apps: string[] | "no"; plugins: boolean; keys: boolean; newKey: boolean }][] = [
  ["the root key", "root", { apps: ["@team/shop", "todos"], plugins: true, keys: true, newKey: true }],
  ["an admin", { role: "admin" }, { apps: ["@team/shop", "todos"], plugins: true, keys: true, newKey: true }],
  ["an editor", { role: "editor" }, { apps: ["@team/shop", "todos"], plugins: true, keys: false, newKey: false }],
  ["a viewer", { role: "viewer" }, { apps: ["@team/shop", "todos"], plugins: true, keys: true, newKey: false }],
  [
    "a key with one permission",
    { role: "custom", permissions: ["plugins:read"] },
    { apps: "no", plugins: true, keys: false, newKey: false },
  ],
  ["a key for one namespace", { role: "admin", namespaces: ["@team"] }, { apps: ["@team/shop"], plugins: true, keys: true, newKey: true }],
];

/** Background color of the page in each theme. */
const grounds = { light: "rgb(246, 247, 249)", dark: "rgb(11, 13, 16)" } as const;

describe.each([
  ["without a proxy", "light", () => daemon.url],
  ["without a proxy", "dark", () => daemon.url],
  ["behind a proxy that serves the daemon below a path", "light", () => proxy.url],
  ["behind a proxy that serves the daemon below a path", "dark", () => proxy.url],
] as const)("the panel (deployment: %s; theme: %s)", (_where, theme, base) => {
  test.each(cases)(
    "shows only the permitted lists and actions when signed in as %s",
    async (who, principal, { apps, plugins, keys, newKey }) => {
      const key = principal === "root" ? daemon.rootKey : await keyOf(principal);
      const page = await browser.page(`${base()}/cpanel/apps`, { isDark: theme === "dark" });
      const expectTheme = async () =>
        expect(await page.evaluate("getComputedStyle(document.documentElement).backgroundColor")).toBe(grounds[theme]);
      await signIn(page, key);
      await expectTheme();
      const noneOf = (noun: string) => page.getByText(`This key may not see ${noun}s`);
      if (apps === "no") await noneOf("app").waitFor();
      else for (const app of apps) await page.getByRole("rowheader").filter({ hasText: app }).waitFor();
      if (apps !== "no" && apps.length === 1) expect(await page.getByText("todos").count()).toBe(0);
      if (apps === "no") await expectAccessible(page);
      // The check emulates both color schemes.
      await page.emulateMedia({ colorScheme: theme });
      const sections = page.getByRole("navigation", { name: "Sections" });
      expect(await sections.getByRole("link", { name: "Apps" }).count()).toBe(apps === "no" ? 0 : 1);
      expect(await sections.getByRole("link", { name: "Keys" }).count()).toBe(keys ? 1 : 0);
      await sections.getByRole("link", { name: "Plugins" }).click();
      await (plugins ? page.getByRole("heading", { name: "Plugins", level: 1 }) : noneOf("plugin")).waitFor();
      await page.goto(`${base()}/cpanel/keys`);
      await (keys ? page.getByRole("table", { name: "Keys" }) : noneOf("key")).waitFor();
      expect(await page.getByRole("button", { name: "New key" }).count()).toBe(newKey ? 1 : 0);
      await sections.getByRole("link", { name: "Overview" }).click();
      await page.getByText(/has no problem|have no problem|The daemon responds/).waitFor();
      await page.goto(`${base()}/cpanel/no/such/page`);
      await page.getByRole("heading", { name: "Page not found" }).waitFor();
      await expectTheme();
      if (who === "a viewer") await expectAccessible(page);
      await page.context().close();
      expect(browser.complaints).toEqual([]);
    },
  );
});
