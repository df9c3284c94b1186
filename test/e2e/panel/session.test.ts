import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { connect } from "../../support/connect.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { expectAccessible } from "./expect-accessible.js";
import { PanelBrowser, signIn, signOut } from "./panel-browser.js";

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

async function newKey(name: string): Promise<{ id: number; key: string }> {
  return (await connect(daemon.url, daemon.rootKey).keys.create({ body: { name, role: "admin" } })).data;
}

/** Returns everything that scripts of the page can read. */
async function kept(page: Page): Promise<string> {
  return await page.evaluate<string>(
    `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state, document.documentElement.outerHTML, [...document.querySelectorAll("input")].map((input) => input.value)])`,
  );
}

test("shows an error for a wrong key, and stores a valid key in an HttpOnly cookie", async () => {
  const page = await browser.page(`${daemon.url}/cpanel/keys?search=x`, { provoked: [401] });
  await page.getByLabel("API key").fill("rtk_wrong");
  await page.keyboard.press("Enter");
  await page.getByText("INVALID_KEY").waitFor();
  expect(await page.getByRole("alert").textContent()).toMatch(/request [0-9a-f-]{8}/);
  expect(await page.getByLabel("API key").inputValue()).toBe("");
  await expectAccessible(page);
  await signIn(page, daemon.rootKey);
  await page.getByRole("heading", { name: "Keys", level: 1 }).waitFor();
  expect(page.url()).toBe(`${daemon.url}/cpanel/keys?search=x`);
  expect(await kept(page)).not.toContain(daemon.rootKey);
  expect((await page.context().cookies()).map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }))).toEqual([
    { name: "runtime_api_key", httpOnly: true, sameSite: "Strict" },
  ]);
  await signOut(page);
  await page.getByText("You have signed out.").waitFor();
  await expectAccessible(page);
  expect(await page.context().cookies()).toEqual([]);
  expect(browser.complaints).toEqual([]);
});

test("warns on the sign-in page when the connection is not encrypted", async () => {
  const elsewhere = await PanelBrowser.open();
  onTestFinished(() => elsewhere.close());
  const page = await elsewhere.page(`${daemon.url}/cpanel/`);
  // Resolves to the daemon in this page only.
  await page.context().route("http://panel.test/**", async (route) => {
    const { pathname, search } = new URL(route.request().url());
    await route.fulfill({ response: await route.fetch({ url: daemon.url + pathname + search }) });
  });
  await page.goto("http://panel.test/cpanel/");
  await page.getByText("This connection is not encrypted").waitFor();
  await expectAccessible(page);
});

test("stores nothing except the selected theme before sign-in", async () => {
  const page = await browser.page(`${daemon.url}/cpanel/`);
  await page.getByLabel("Theme").selectOption("dark");
  expect(await page.evaluate("getComputedStyle(document.documentElement).colorScheme")).toBe("dark");
  await page.reload();
  await page.getByLabel("API key").waitFor();
  expect(await page.evaluate("getComputedStyle(document.documentElement).colorScheme")).toBe("dark");
  expect(await page.evaluate("JSON.stringify({ ...localStorage })")).toBe('{"cpanel.theme":"dark"}');
});

test("asks for the key when the session expires, and keeps unsaved changes", async () => {
  const { id, key } = await newKey("soon-revoked");
  const page = await browser.page(`${daemon.url}/cpanel/keys/new`, { provoked: [401, 503] });
  // Without this error, the event stream reports the end of the session before the button is pressed.
  const error = { code: "TOO_MANY_STREAMS", message: "Too many event streams are open." };
  await page.route("**/api/events*", (route) => route.fulfill({ status: 503, json: { error } }));
  await signIn(page, key);
  await page.getByLabel("Name", { exact: true }).fill("half-written");
  await connect(daemon.url, daemon.rootKey).keys.revoke({ params: { id: String(id) } });
  await page.getByRole("button", { name: "Create key" }).click();
  const dialog = page.getByRole("alertdialog", { name: "Your session has ended" });
  await dialog.waitFor();
  await page.keyboard.press("Escape");
  expect(await dialog.isVisible()).toBe(true);
  await expectAccessible(page);
  await dialog.getByLabel("API key").fill(daemon.rootKey);
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.waitFor({ state: "hidden" });
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("half-written");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByRole("alertdialog", { name: "The key half-written" }).waitFor();
  expect(browser.complaints).toEqual([]);
});

test("warns five minutes before a session expires, and can renew the session", async () => {
  const short = await startDaemon({ env: { RUNTIME_CPANEL_SESSION_TTL: "4m" } });
  try {
    const page = await browser.page(`${short.url}/cpanel/`);
    await signIn(page, short.rootKey);
    await page.getByText("Your session ends in 4 minutes.").waitFor();
    await page.reload();
    await page.getByText("Your session ends in 4 minutes.").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Sign in again" }).click();
    const dialog = page.getByRole("dialog", { name: "Sign in again" });
    await dialog.waitFor();
    await expectAccessible(page);
    await dialog.getByLabel("API key").fill(short.rootKey);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.context().close();
  } finally {
    await short.dispose();
  }
});

test("keeps showing its data while the daemon is unreachable, then reloads the data", async () => {
  const first = await startDaemon();
  const unanswered = /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|status of 503/;
  const page = await browser.page(`${first.url}/cpanel/keys`, { provoked: [unanswered] });
  await signIn(page, first.rootKey);
  await connect(first.url, first.rootKey).keys.create({ body: { name: "before", role: "viewer" } });
  await page.getByRole("rowheader", { name: /before/ }).waitFor({ timeout: 20_000 });
  await first.stop();
  await page.getByText("The daemon does not respond.").waitFor();
  expect(await page.getByRole("rowheader", { name: /before/ }).isVisible()).toBe(true);
  await expectAccessible(page);
  const env = { PORT: new URL(first.url).port };
  const second = await startDaemon({ env, directory: first.directory });
  try {
    await connect(second.url, second.rootKey).keys.create({ body: { name: "after", role: "viewer" } });
    await page.getByText("The daemon does not respond.").waitFor({ state: "hidden" });
    await page.getByRole("rowheader", { name: /after/ }).waitFor();
    expect(browser.complaints).toEqual([]);
  } finally {
    await second.dispose();
  }
}, 60_000);
