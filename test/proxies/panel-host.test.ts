import { expect, onTestFinished, test } from "vitest";
import { signIn, signOut } from "../e2e/panel/panel-browser.js";
import { attackOperator, expectNoLoot, keyNamesOf, uploadAttacker } from "../support/attack-operator.js";
import { connect } from "../support/connect.js";
import { openBrowser } from "../support/open-browser.js";
import { startDaemon } from "../support/start-daemon.js";
import { startNginx } from "./start-proxy.js";

test("a worker's page behind nginx cannot use the operator's panel session", { timeout: 120_000 }, async () => {
  const daemon = await startDaemon({ env: { RUNTIME_PANEL_HOST: "panel.example.org", RUNTIME_PUBLIC_URL: "https://apps.example.org" } });
  onTestFinished(daemon.dispose);
  const { port } = new URL(await startNginx([Number(new URL(daemon.url).port)]));
  const [panelOrigin, appsOrigin] = [`https://panel.example.org:${port}`, `https://apps.example.org:${port}`];
  const attackerKey = await uploadAttacker(daemon.url, daemon.rootKey);
  const browser = await openBrowser({ localHosts: ["*.example.org"] });
  onTestFinished(() => browser.close());
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const panel = await context.newPage();
  await panel.goto(`${appsOrigin}/cpanel/`);
  expect(new URL(panel.url()).origin).toBe(panelOrigin);
  await signIn(panel, daemon.rootKey);
  const names = (await context.cookies(panelOrigin)).map(({ name, secure, sameSite }) => ({ name, secure, sameSite }));
  expect(names).toEqual([
    { name: "runtime_api_key", secure: true, sameSite: "Strict" },
    { name: "__Host-runtime_api_key", secure: true, sameSite: "Strict" },
  ]);
  const client = connect(daemon.url, daemon.rootKey);
  const before = await keyNamesOf(client);

  await expectNoLoot(await attackOperator({ context, panelOrigin, appsOrigin, attackerKey }), client, before);

  // No other host can set the cookie that the panel accepts, so the session continues.
  await panel.goto(`${panelOrigin}/cpanel/keys`);
  await panel.getByRole("heading", { name: "Keys" }).waitFor();
  await signOut(panel);
  await panel.getByLabel("API key").waitFor();
  await signIn(panel, daemon.rootKey);
  await panel.goto(`${panelOrigin}/cpanel/keys`);
  await panel.getByRole("heading", { name: "Keys" }).waitFor();
});
