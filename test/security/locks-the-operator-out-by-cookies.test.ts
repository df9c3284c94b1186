import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signIn as signInAtPanel } from "../e2e/panel/panel-browser.js";
import { connect } from "../support/connect.js";
import { openBrowser } from "../support/open-browser.js";
import { createSender } from "../support/send.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

/** Responds with the Set-Cookie headers of the query. */
const setter = `export default { fetch(request) {
  const headers = new Headers({ "content-type": "text/html" });
  for (const value of new URL(request.url).searchParams.getAll("cookie")) headers.append("set-cookie", value);
  return new Response("<title>setter</title>", { headers });
} };`;

let daemon: TestDaemon;
let attackerKey: string;
let otherKey: string;
beforeAll(async () => {
  daemon = await startDaemon();
  const client = connect(daemon.url, daemon.rootKey);
  await uploadWorker(client, "setter", { "index.js": setter });
  attackerKey = (await client.keys.create({ body: { name: "attacker", role: "viewer" } })).data.key;
  otherKey = (await client.keys.create({ body: { name: "operator", role: "admin" } })).data.key;
});
afterAll(() => daemon.dispose());

/** Requests the session with this Cookie header. */
const session = async (cookie: string, path = "/api/admin/session") => {
  const response = await fetch(daemon.url + path, { headers: { cookie } });
  const body = (await response.json()) as { error?: { code: string }; principal?: { name: string } };
  return { status: response.status, who: body.principal?.name ?? body.error?.code, cleared: response.headers.getSetCookie() };
};
const named = (...values: string[]) => values.map((value) => `runtime_api_key=${value}`).join("; ");

const signIn = (page: Page, key: string): Promise<number> =>
  page.evaluate(
    async (secret) =>
      (
        await fetch("/api/admin/session", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ key: secret }),
        })
      ).status,
    key,
  );
const statusOf = (page: Page, path: string): Promise<number> => page.evaluate(async (target) => (await fetch(target)).status, path);
const plant = (page: Page, cookie: string): Promise<unknown> => page.evaluate(`document.cookie = ${JSON.stringify(cookie)}`);

describe("several session cookies in one request", () => {
  it.each([
    ["an invalid cookie before the operator's", () => named("junk", otherKey)],
    ["an invalid cookie after the operator's", () => named(otherKey, "junk")],
    ["an empty and a malformed cookie before the operator's", () => named("", "%", otherKey)],
    ["seven invalid cookies before the operator's", () => named("1", "2", "3", "4", "5", "6", "7", otherKey)],
    ["the operator's cookie twice", () => named(otherKey, otherKey)],
  ])("are accepted when they contain exactly one valid key (case: %s)", async (_, cookie) => {
    expect(await session(cookie())).toEqual({ status: 200, who: "operator", cleared: [] });
  });

  it("are rejected with SESSION_AMBIGUOUS and deleted when they contain two valid keys", async () => {
    const { status, who, cleared } = await session(named(attackerKey, otherKey));
    expect([status, who]).toEqual([401, "SESSION_AMBIGUOUS"]);
    expect(cleared).toContain("runtime_api_key=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict");
    expect(cleared).toContain("runtime_api_key=;Max-Age=0;Path=/api");
    expect(cleared).toContain("=runtime_api_key=;Max-Age=0;Path=/api/admin/;Secure;Partitioned");
    expect(cleared.reduce((bytes, line) => bytes + "Set-Cookie: \r\n".length + line.length, 0)).toBeLessThan(3700);
  });

  it("are rejected for a call that changes data when they contain two valid keys", async () => {
    const before = await connect(daemon.url, daemon.rootKey).keys.list();
    const response = await fetch(`${daemon.url}/api/keys`, {
      method: "POST",
      headers: { cookie: named(attackerKey, otherKey), origin: daemon.url, "content-type": "application/json" },
      body: JSON.stringify({ name: "new", role: "viewer" }),
    });
    expect([response.status, await response.json()]).toEqual([401, { error: expect.objectContaining({ code: "SESSION_AMBIGUOUS" }) }]);
    const after = await connect(daemon.url, daemon.rootKey).keys.list();
    expect(after.keys.map(({ name }) => name)).toEqual(before.keys.map(({ name }) => name));
  });

  it("are ignored when the X-API-Key header contains a key", async () => {
    const headers = { cookie: named(attackerKey, otherKey), "x-api-key": otherKey };
    expect((await fetch(`${daemon.url}/api/admin/session`, { headers })).status).toBe(200);
  });

  it("are rejected with AUTH_REQUIRED and deleted when 30 of them are invalid", async () => {
    expect(await session(named("junk"))).toEqual({ status: 401, who: "AUTH_REQUIRED", cleared: [] });
    const { who, cleared } = await session(named(...Array.from({ length: 30 }, (_, index) => `junk-${index}`), otherKey));
    expect(who).toBe("AUTH_REQUIRED");
    expect(cleared).toContain("runtime_api_key=;Max-Age=0;Path=/api/");
  });

  it("are all deleted when the user signs out", async () => {
    const response = await fetch(`${daemon.url}/api/admin/session`, {
      method: "DELETE",
      headers: { cookie: named("junk", otherKey), origin: daemon.url },
    });
    expect(response.status).toBe(204);
    expect(response.headers.getSetCookie()).toContain("runtime_api_key=;Max-Age=0;Path=/api");
    const single = await fetch(`${daemon.url}/api/admin/session`, {
      method: "DELETE",
      headers: { cookie: named(otherKey), origin: daemon.url },
    });
    expect(single.headers.getSetCookie()).toEqual(["runtime_api_key=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict"]);
  });
});

describe("session cookies at a host that has parent domains", () => {
  it("are deleted for the host and each parent domain, except the top-level domain", async () => {
    const seen = new Set<string>();
    for (let attempt = 0; attempt < 60; attempt += 1) {
      const send = createSender(daemon.url);
      const headers = { host: "rt.apps.example.org", cookie: named(attackerKey, otherKey) };
      const answer = await send({ path: "/api/workers/files/list?path=a", headers });
      await send.close();
      for (const line of [answer.headers["set-cookie"] ?? []].flat()) {
        const domain = /Domain=([^;]+)/.exec(line)?.[1];
        if (domain !== undefined) seen.add(domain);
      }
    }
    expect([...seen].toSorted()).toEqual(["apps.example.org", "example.org", "rt.apps.example.org"]);
  });
});

describe("the header Set-Cookie of a worker's response", () => {
  it.each([
    "runtime_api_key=x; Path=/api",
    "=runtime_api_key=x; Path=/api",
    "runtime_api_key",
    "anything; Path=/api",
    " =\t=runtime_api_key=x",
    "Runtime_API_Key=x",
    '"runtime_api_key"=x',
    "\truntime_api_key =x",
    "\u00a0runtime_api_key=x",
    "__Host-runtime_api_key=x; Secure; Path=/",
    "__Secure-runtime_api_key=x; Secure",
  ])("is removed when it has the value %j", async (cookie) => {
    const query = new URLSearchParams([
      ["cookie", cookie],
      ["cookie", "own=1; Path=/setter/"],
    ]);
    const response = await fetch(`${daemon.url}/setter/?${query.toString()}`);
    expect(response.headers.getSetCookie()).toEqual(["own=1; Path=/setter/"]);
  });
});

describe("an operator in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  const openSignedIn = async (): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${daemon.url}/setter/`);
    expect(await signIn(page, otherKey)).toBe(200);
    return page;
  };

  it("remains signed in when a page sets an invalid cookie with a longer path", async () => {
    const page = await openSignedIn();
    await plant(page, "runtime_api_key=junk; path=/api; max-age=31536000");
    await plant(page, "=runtime_api_key=nameless; path=/api; max-age=31536000");
    expect(await statusOf(page, "/api/keys")).toBe(200);
    await page.close();
  });

  it("remains signed in when a worker's response sets a cookie without a name", async () => {
    const page = await openSignedIn();
    await page.goto(`${daemon.url}/setter/?${new URLSearchParams({ cookie: "=runtime_api_key=x; Path=/api" }).toString()}`);
    expect((await page.context().cookies()).map(({ name }) => name)).toEqual(["runtime_api_key"]);
    expect(await statusOf(page, "/api/keys")).toBe(200);
    await page.close();
  });

  it.each([
    "runtime_api_key=KEY; path=/api/keys",
    "=runtime_api_key=KEY; path=/api/",
    "runtime_api_key=KEY; path=/api; Secure; Partitioned; SameSite=None",
    "=runtime_api_key=KEY; path=/; Secure; Partitioned; SameSite=None",
  ])("is not signed in by the attacker's cookie %j, and can sign in", async (cookie) => {
    const page = await openSignedIn();
    await plant(page, cookie.replace("KEY", attackerKey));
    const cookies = await page.context().cookies();
    const isPlanted = cookies.some(({ value }) => value.includes(attackerKey));
    // Newer browsers reject a nameless cookie whose value looks like a named one.
    expect(isPlanted || cookie.startsWith("=")).toBe(true);
    expect(await statusOf(page, "/api/keys")).toBe(isPlanted ? 401 : 200);
    if (isPlanted) expect(await page.context().cookies()).toEqual([]);
    else expect(cookies.map(({ value }) => value)).toEqual([otherKey]);
    expect(await signIn(page, otherKey)).toBe(200);
    expect(await statusOf(page, "/api/keys")).toBe(200);
    await page.close();
  });

  it("can sign in again after a page set 30 invalid cookies", async () => {
    const page = await openSignedIn();
    const paths = ["/", "/api", "/api/", "/api/keys", "/api/keys/", "/api/admin", "/api/admin/session"];
    for (const path of paths)
      for (const name of ["runtime_api_key=", "=runtime_api_key="])
        await plant(page, `${name}junk-${path.length}-${name.length}; path=${path}`);
    await plant(page, "runtime_api_key=a; path=/api/keys; domain=127.0.0.1");
    let status = await statusOf(page, "/api/keys");
    if (status !== 200) {
      expect(await signIn(page, otherKey)).toBe(200);
      status = await statusOf(page, "/api/keys");
    }
    expect(status).toBe(200);
    await page.close();
  });

  it("gets the sign-in form when two session cookies contain valid keys", async () => {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`${daemon.url}/cpanel/keys`);
    await signInAtPanel(page, otherKey);
    await plant(page, `runtime_api_key=${attackerKey}; path=/api`);
    await page.reload();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await page.close();
  });
});
