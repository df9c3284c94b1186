import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect } from "./connect.js";
import { uploadWorker } from "./upload-worker.js";

/** Responds with a page and the Set-Cookie headers of the query. */
const attacker = `export default { fetch(request) {
  const headers = new Headers({ "content-type": "text/html" });
  for (const value of new URL(request.url).searchParams.getAll("cookie")) headers.append("set-cookie", value);
  return new Response("<title>attacker</title>", { headers });
} };`;

/** Uploads the worker with the attacking pages as `attacker`. */
export async function uploadAttacker(daemonUrl: string, rootKey: string): Promise<string> {
  const client = connect(daemonUrl, rootKey);
  await uploadWorker(client, "attacker", { "index.js": attacker });
  return (await client.keys.create({ body: { name: "attacker", role: "viewer" } })).data.key;
}

interface AttackOptions {
  /** Browser context of the operator, who is signed in at the panel. */
  readonly context: BrowserContext;
  readonly panelOrigin: string;
  /** Origin of the attacker's page. */
  readonly appsOrigin: string;
  /** API key that belongs to the attacker. */
  readonly attackerKey: string;
}

/** Results of an attack. */
export interface Loot {
  /** Statuses of calls with the operator's cookie, or "blocked" if the browser hides the response. */
  readonly calls: Readonly<Record<string, number | "blocked">>;
  /** Cookie headers that a server on another port of the attacker's host received. */
  readonly cookies: readonly string[];
}

/**
 * Attacks the operator with the page of a worker. The page calls the API with the operator's session, reads the session key through another
 * port, and sets cookies that disturb the session.
 */
export async function attackOperator({ context, panelOrigin, appsOrigin, attackerKey }: AttackOptions): Promise<Loot> {
  const page = await context.newPage();
  await page.goto(`${appsOrigin}/attacker/`);
  const calls = {
    "a key made at the own host": await statusOf(page, `${appsOrigin}/api/keys`, { method: "POST", body: newKey }),
    "the session at the own host": await statusOf(page, `${appsOrigin}/api/admin/session`),
    "a key made at the panel's host": await statusOf(page, `${panelOrigin}/api/keys`, { method: "POST", body: newKey }),
    "the keys read at the panel's host": await statusOf(page, `${panelOrigin}/api/keys`),
    "the panel's page read": await statusOf(page, `${panelOrigin}/cpanel/`),
  };
  const cookies = await readCookiesByPort(page, new URL(appsOrigin).hostname);
  await plantCookies(page, appsOrigin, attackerKey);
  await page.close();
  return { calls, cookies };
}

/** Expects that an attack obtained nothing and created no key. */
export async function expectNoLoot({ calls, cookies }: Loot, client: Client, keysBefore: readonly string[]): Promise<void> {
  expect(calls).toEqual({
    "a key made at the own host": 401,
    "the session at the own host": 401,
    "a key made at the panel's host": "blocked",
    "the keys read at the panel's host": "blocked",
    "the panel's page read": "blocked",
  });
  expect(cookies.join()).not.toContain("runtime_api_key");
  expect(await keyNamesOf(client)).toEqual(keysBefore);
}

export async function keyNamesOf(client: Client): Promise<string[]> {
  return (await client.keys.list()).keys.map(({ name }) => name);
}

const newKey = JSON.stringify({ name: "pwned", role: "admin" });

async function statusOf(page: Page, url: string, init: { method?: string; body?: string } = {}): Promise<number | "blocked"> {
  return await page.evaluate(
    async ([target, options]) =>
      await fetch(target, {
        ...options,
        credentials: "include",
        ...(options.body && { headers: { "content-type": "application/json" } }),
      }).then(
        (response) => response.status,
        () => "blocked" as const,
      ),
    [url, init] as const,
  );
}

/** Stands for a server of the attacking worker. The worker itself is not allowed to listen on a port. */
async function readCookiesByPort(page: Page, hostname: string): Promise<string[]> {
  const cookies: string[] = [];
  const server = createServer((request, response) => {
    cookies.push(request.headers.cookie ?? "");
    response.end();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await page.goto(`http://${hostname}:${port}/`);
  server.close();
  return cookies;
}

/**
 * Sets invalid cookies and a cookie with a valid key, by scripts and by responses, for the host and its parent domain, at each path of a
 * call.
 */
async function plantCookies(page: Page, appsOrigin: string, attackerKey: string): Promise<void> {
  const domain = new URL(appsOrigin).hostname.split(".").slice(1).join(".");
  const planted = ["/", "/api", "/api/", "/api/admin", "/api/admin/session", "/api/workers"].flatMap((path) =>
    ["", `; domain=${domain}`, `; domain=${domain}; secure`].map(
      (scope, index) =>
        `runtime_api_key=${index === 0 ? encodeURIComponent(attackerKey) : `junk${index}${path.length}`}; path=${path}; max-age=86400${scope}`,
    ),
  );
  const all = [
    ...planted,
    `__Host-runtime_api_key=junk; path=/; secure; domain=${domain}`,
    `__Host-runtime_api_key=junk; path=/api; secure`,
    `=runtime_api_key=junk; path=/api; domain=${domain}`,
    `=__Host-runtime_api_key=junk; path=/; domain=${domain}`,
  ];
  const query = new URLSearchParams(all.map((cookie): [string, string] => ["cookie", cookie]));
  await page.goto(`${appsOrigin}/attacker/?${query.toString()}`);
  await page.evaluate(`for (const cookie of ${JSON.stringify(all)}) document.cookie = cookie;`);
}
