import { expect, onTestFinished, test } from "vitest";
import { connect, uploadOf } from "../support/connect.js";
import { openBrowser } from "../support/open-browser.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon } from "../support/start-daemon.js";
import { startPebble } from "./start-pebble.js";
import { startCaddyWithAcme } from "./start-proxy.js";

const env = {
  RUNTIME_PANEL_HOST: "panel.example.org",
  RUNTIME_PUBLIC_URL: "https://apps.example.org",
  RUNTIME_ALLOWED_HOSTS: "apps.example.org,panel.example.org,127.0.0.1",
  RUNTIME_APP_DOMAIN: "apps.example.org",
};

test("Caddy obtains a certificate at the first request, and only for hosts of a worker", { timeout: 300_000 }, async () => {
  const daemon = await startDaemon({ env });
  onTestFinished(daemon.dispose);
  const client = connect(daemon.url, daemon.rootKey);
  const archive = await packFiles({ "manifest.yaml": manifestOf("shop", "1.0.0"), "index.html": "<title>Shop</title>" });
  await client.workers.upload({ file: uploadOf("shop.tgz", archive) });
  await client.hosts.add({ params: { host: "shop.test" }, body: { worker: "shop" } });
  const acme = await startPebble();
  const port = await startCaddyWithAcme(Number(new URL(daemon.url).port), acme);
  const browser = await openBrowser({ localHosts: ["*.test", "*.example.org"], localPort: port });
  onTestFinished(() => browser.close());
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
  // The first page of a browser took up to 31 s on a machine without a network.
  page.setDefaultNavigationTimeout(120_000);
  expect(acme.log()).not.toContain("shop.test");

  for (const [url, name] of [
    ["https://shop.test/", "shop.test"],
    ["https://shop.apps.example.org/", "shop.apps.example.org"],
  ] as const) {
    const response = await page.goto(url);
    expect(await page.title()).toBe("Shop");
    expect(await response?.securityDetails()).toMatchObject({ issuer: expect.stringMatching(/^Pebble Intermediate CA/) });
    expect(acme.log()).toContain(name);
  }
  const panel = await page.goto("https://panel.example.org/cpanel/");
  expect(panel?.status()).toBe(200);

  await expect(page.goto("https://other.test/")).rejects.toThrow("ERR_SSL_PROTOCOL_ERROR");
  await expect(page.goto("https://nobody.apps.example.org/")).rejects.toThrow("ERR_SSL_PROTOCOL_ERROR");
  expect(acme.log()).not.toMatch(/other\.test|nobody\.apps/);
});
