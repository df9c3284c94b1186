import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { signIn } from "../e2e/panel/panel-browser.js";
import { attackOperator, expectNoLoot, keyNamesOf, uploadAttacker } from "../support/attack-operator.js";
import { connect } from "../support/connect.js";
import { openBrowser } from "../support/open-browser.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

let daemon: TestDaemon;
let browser: Browser;
let context: BrowserContext;
let attackerKey: string;
let panelOrigin: string;
let appsOrigin: string;

beforeAll(async () => {
  daemon = await startDaemon({ env: { RUNTIME_PANEL_HOST: "panel.example.org", RUNTIME_PUBLIC_URL: "http://apps.example.org" } });
  const { port } = new URL(daemon.url);
  [panelOrigin, appsOrigin] = [`http://panel.example.org:${port}`, `http://apps.example.org:${port}`];
  attackerKey = await uploadAttacker(daemon.url, daemon.rootKey);
  browser = await openBrowser({ localHosts: ["*.example.org"] });
});
afterAll(async () => {
  await browser.close();
  await daemon.dispose();
});
beforeEach(async () => {
  context = await browser.newContext();
  return () => context.close();
});

test("a worker's page cannot use the operator's panel session", async () => {
  const panel = await context.newPage();
  // The workers' host redirects from the panel's path.
  await panel.goto(`${appsOrigin}/cpanel/`);
  expect(new URL(panel.url()).origin).toBe(panelOrigin);
  await signIn(panel, daemon.rootKey);
  const client = connect(daemon.url, daemon.rootKey);
  const before = await keyNamesOf(client);

  await expectNoLoot(await attackOperator({ context, panelOrigin, appsOrigin, attackerKey }), client, before);

  // Planted cookies can make the session ambiguous. The daemon then clears them, and the operator signs in again.
  await panel.goto(`${panelOrigin}/cpanel/keys`);
  await panel.getByRole("heading", { name: "Keys" }).or(panel.getByLabel("API key")).first().waitFor();
  if (await panel.getByLabel("API key").isVisible()) await signIn(panel, daemon.rootKey);
  await panel.goto(`${panelOrigin}/cpanel/keys`);
  await panel.getByRole("heading", { name: "Keys" }).waitFor();
  expect(await panel.evaluate(async () => (await (await fetch("/api/admin/session")).json()) as object)).toMatchObject({
    principal: { name: "root" },
  });
});
