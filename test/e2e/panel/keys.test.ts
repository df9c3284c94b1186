import { EventEmitter, once } from "node:events";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { connect } from "../../support/connect.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { expectAccessible } from "./expect-accessible.js";
import { PanelBrowser, signIn, type Provoked } from "./panel-browser.js";

// axe checks each state four times, which takes seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

let daemon: TestDaemon;
let browser: PanelBrowser;

beforeAll(async () => {
  [daemon, browser] = await Promise.all([startDaemon(), PanelBrowser.open()]);
});
afterAll(async () => {
  await Promise.all([daemon.dispose(), browser.close()]);
});

async function openKeys({ key = daemon.rootKey, at = "keys", provoked = [] as readonly Provoked[] } = {}): Promise<Page> {
  const page = await browser.page(`${daemon.url}/cpanel/${at}`, { provoked });
  await signIn(page, key);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return page;
}

async function identify(key: string): Promise<number> {
  return (await fetch(`${daemon.url}/api/admin/session`, { headers: { "x-api-key": key } })).status;
}

test("shows a new key until the user confirms that the key is stored", async () => {
  const page = await openKeys();
  await page.getByText("No keys yet").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "New key" }).first().click();
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("Enter a name that tells").waitFor();
  await page.getByLabel("Name", { exact: true }).fill("robot");
  await page.getByText("Changes nothing. Reads all but the audit log, settings and values of variables.").waitFor();
  await page.getByRole("radio", { name: /custom/ }).check({ force: true });
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("Choose at least one permission.").waitFor();
  await expectAccessible(page);
  await page.getByRole("checkbox", { name: "workers:install" }).check({ force: true });
  await page.getByLabel("Namespaces").fill("@team, @shop");
  await page.getByRole("radio", { name: "Another time" }).check({ force: true });
  await page.getByLabel("Lifetime").fill("3h");
  await page.getByText(/^On .*, \d\d:\d\d \(in 3 h\)\.$/).waitFor();
  await page.getByText(/robot may have .* until .*, \d\d:\d\d \(in 3 h\)\./).waitFor();
  await page.getByRole("radio", { name: /30 days/ }).check({ force: true });
  const end = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" }).format(Date.now() + 30 * 86_400_000);
  await page.getByText(`robot may have workers:install in @team, @shop until ${end}.`).waitFor();
  await page.getByRole("button", { name: "Create key" }).click();
  const reveal = page.getByRole("alertdialog", { name: "The key robot" });
  const secret = await reveal.getByLabel("Secret").inputValue();
  expect(secret).toMatch(/^rtk_[\w-]{43}$/);
  expect(await identify(secret)).toBe(200);
  await expectAccessible(page);
  await page.keyboard.press("Escape");
  await page.mouse.click(4, 4);
  await page.goBack();
  expect(await reveal.isVisible()).toBe(true);
  expect(await reveal.getByLabel("Secret").inputValue()).toBe(secret);
  expect(await reveal.getByRole("button", { name: "Done" }).isDisabled()).toBe(true);
  await reveal.getByRole("checkbox", { name: "I have stored it" }).check({ force: true });
  await reveal.getByRole("button", { name: "Done" }).click();
  await page.getByRole("rowheader", { name: /robot/ }).waitFor();
  expect(await page.content()).not.toContain(secret);
  const [made] = (await connect(daemon.url, daemon.rootKey).keys.list()).keys;
  expect(made).toMatchObject({ name: "robot", role: "custom", permissions: ["workers:install"], namespaces: ["@team", "@shop"] });
  expect(browser.complaints).toEqual([]);
});

test("revokes a key only after the user types its name", async () => {
  const { key } = (await connect(daemon.url, daemon.rootKey).keys.create({ body: { name: "deleted", role: "viewer", expiresIn: "7d" } }))
    .data;
  const page = await openKeys();
  await page
    .getByRole("row", { name: /deleted/ })
    .getByText("expires soon")
    .waitFor();
  await expectAccessible(page);
  const open = () => page.getByRole("button", { name: "Revoke deleted" }).click();
  await open();
  const dialog = page.getByRole("alertdialog", { name: "Revoke deleted?" });
  // Neither button has the focus: Enter does nothing until the name matches.
  expect(await page.evaluate("document.activeElement?.labels?.[0]?.textContent")).toBe("Type deleted to confirm");
  await expectAccessible(page);
  await dialog.getByLabel("Type deleted to confirm").fill("delete");
  await page.keyboard.press("Enter");
  expect(await dialog.getByRole("button", { name: "Revoke key" }).isDisabled()).toBe(true);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await dialog.waitFor({ state: "hidden" });
  expect(await identify(key)).toBe(200);
  await open();
  await dialog.getByLabel("Type deleted to confirm").fill("deleted");
  await page.keyboard.press("Enter");
  await page.getByText("The key deleted is revoked.").waitFor();
  await expect.poll(() => page.getByRole("rowheader", { name: /deleted/ }).count()).toBe(0);
  expect(await identify(key)).toBe(401);
});

test("rotates a key, shows the new key and keeps the old key for the grace period", async () => {
  const { key, id } = (await connect(daemon.url, daemon.rootKey).keys.create({ body: { name: "turning", role: "viewer" } })).data;
  const page = await openKeys();
  await page.getByRole("button", { name: "Rotate turning" }).click();
  await page.getByRole("dialog", { name: "Rotate turning" }).waitFor();
  await expectAccessible(page);
  await page.getByRole("dialog", { name: "Rotate turning" }).getByRole("button", { name: "Rotate key" }).click();
  const secret = await page.getByRole("alertdialog", { name: "The key turning" }).getByLabel("Secret").inputValue();
  await expectAccessible(page);
  expect([await identify(secret), await identify(key)]).toEqual([200, 200]);
  const listed = (await connect(daemon.url, daemon.rootKey).keys.list()).keys;
  expect(listed.find((each) => each.id === id)?.expiresAt).toBeLessThan(Date.now() / 1000 + 86_500);
});

test("does not revoke the key in use, and grants no permission that the key lacks", async () => {
  const permissions = ["keys:read", "keys:create", "keys:revoke", "workers:read"] as const;
  const body = { name: "keeper", role: "custom", permissions: [...permissions], namespaces: ["@team"] } as const;
  const { key } = (
    await connect(daemon.url, daemon.rootKey).keys.create({ body: { ...body, permissions: [...permissions], namespaces: ["@team"] } })
  ).data;
  const page = await openKeys({ key, provoked: [403] });
  await page.getByText("this session", { exact: true }).waitFor();
  await expectAccessible(page);
  expect(await page.getByRole("button", { name: "Revoke keeper" }).count()).toBe(0);
  await page.getByRole("button", { name: "New key" }).click();
  expect(await page.getByRole("radio", { name: /admin/ }).isDisabled()).toBe(true);
  expect(await page.getByLabel("Namespaces").inputValue()).toBe("@team");
  await page.getByLabel("Name", { exact: true }).fill("beyond");
  await page.getByRole("radio", { name: /custom/ }).check({ force: true });
  expect(await page.getByRole("checkbox", { name: "workers:remove" }).isDisabled()).toBe(true);
  await page.getByRole("checkbox", { name: "workers:read" }).check({ force: true });
  await page.getByLabel("Namespaces").fill("@other");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("alert").getByText("PERMISSION_ESCALATION").waitFor();
  await expectAccessible(page);
  expect((await connect(daemon.url, daemon.rootKey).keys.list()).keys.map(({ name }) => name)).not.toContain("beyond");
});

test("shows a placeholder, a hint if no key matches, and an error if the list fails", async () => {
  const page = await openKeys({ at: "keys?search=nobody", provoked: [500] });
  await page.getByText("No key matches").waitFor();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.getByRole("table", { name: "Keys" }).waitFor();
  expect(page.url()).toBe(`${daemon.url}/cpanel/keys`);
  let answer: "wait" | "fail" = "wait";
  const gate = new EventEmitter();
  await page.route("**/api/keys", async (route) => {
    if (answer === "wait") await once(gate, "open");
    const body = JSON.stringify({ error: { code: "INTERNAL_ERROR", message: "Something failed in the daemon." } });
    await route.fulfill({ status: 500, headers: { "x-request-id": "request-1" }, contentType: "application/json", body });
  });
  await page.reload();
  await page.getByText("Loading keys").waitFor({ state: "attached" });
  await expectAccessible(page);
  answer = "fail";
  gate.emit("open");
  await page.getByText("The keys could not be read").waitFor();
  await page.getByText("request-1").waitFor();
  await expectAccessible(page);
  await page.unroute("**/api/keys");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("table", { name: "Keys" }).waitFor();
  expect(browser.complaints).toEqual([]);
});
