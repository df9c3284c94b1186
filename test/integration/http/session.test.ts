import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSender, expectRefusal, type Answer } from "../../support/send.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

/** Has every character with a meaning in a cookie, a header or a URL. */
const rootKey = `a;b,c=d e%20"\\'+/?#&<>~|`;
const encodedRootKey = encodeURIComponent(rootKey);

let daemon: TestDaemon;
let send: ReturnType<typeof createSender>;
let origin: string;

beforeAll(async () => {
  daemon = await startDaemon({ env: { RUNTIME_ROOT_KEY: rootKey, RUNTIME_CPANEL_SESSION_TTL: "30m" } });
  send = createSender(daemon.url);
  origin = new URL(daemon.url).origin;
});

afterAll(async () => {
  await send.close();
  await daemon.dispose();
});

const signIn = (key: unknown, headers: Record<string, string> = {}) =>
  send({
    method: "POST",
    path: "/api/admin/session",
    headers: { origin, "content-type": "application/json", ...headers },
    body: JSON.stringify({ key }),
  });
const signOut = (headers: Record<string, string> = {}) =>
  send({ method: "DELETE", path: "/api/admin/session", headers: { origin, ...headers } });
const whoAmI = (headers: Record<string, string | string[]>) => send({ path: "/api/admin/session", headers });
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const cookie = (key: string) => ({ cookie: `runtime_api_key=${encodeURIComponent(key)}` });
const nameIn = ({ text }: Answer) => (JSON.parse(text) as { principal: { name: string } }).principal.name;

async function createKey(name: string): Promise<{ id: number; key: string }> {
  const body = JSON.stringify({ name, role: "admin" });
  const answer = await send({
    method: "POST",
    path: "/api/keys",
    headers: { "x-api-key": rootKey, "content-type": "application/json" },
    body,
  });
  expect(answer.status).toBe(201);
  return (JSON.parse(answer.text) as { data: { id: number; key: string } }).data;
}

const createWithoutOrigin = (headers: Record<string, string>) =>
  send({
    method: "POST",
    path: "/api/keys",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ name: "without origin", role: "viewer" }),
  });

describe("signing in", () => {
  test("sets a session cookie with exactly the documented attributes", async () => {
    const answer = await signIn(rootKey);

    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({ authenticated: true, principal: { name: "root", isRoot: true } });
    expect(answer.headers["set-cookie"]).toBe(`runtime_api_key=${encodedRootKey}; Max-Age=1800; Path=/; HttpOnly; SameSite=Strict`);
    expect(answer.headers["cache-control"]).toBe("no-store");
    const pair = String(answer.headers["set-cookie"]).split(";")[0] ?? "";
    expect(nameIn(await whoAmI({ cookie: pair }))).toBe("root");
  });

  test("returns the principal of a stored key, without the field isRoot", async () => {
    const { id, key } = await createKey("operator");

    const answer = await signIn(key);

    expect(JSON.parse(answer.text)).toMatchObject({ principal: { id, name: "operator", keyPrefix: key.slice(0, 12), role: "admin" } });
    expect(answer.text).not.toContain("isRoot");
    expect(answer.text).not.toContain(key);
  });

  test("sets no cookie for 1,000 unknown keys, and then still accepts a valid key", async () => {
    for (let attempt = 0; attempt < 1_000; attempt += 1) {
      const answer = await signIn(`wrong ${attempt}`);
      expect(answer.status).toBe(401);
      expect(answer.headers["set-cookie"]).toBeUndefined();
    }

    expect((await signIn(rootKey)).status).toBe(200);
  });

  test.each([
    ["https", true],
    ["HTTPS", true],
    [" https ", true],
    ["https,http", true],
    ["https, http", true],
    ["http, https", false],
    ["http", false],
    ["", false],
    ["httpsx", false],
    ["wss", false],
  ])("with X-Forwarded-Proto: %s, sets a cookie whose attribute Secure is %s", async (proto, isSecure) => {
    const headers = { "x-forwarded-proto": proto };

    for (const answer of [await signIn(rootKey, headers), await signOut(headers)])
      expect(String(answer.headers["set-cookie"]).endsWith("; Secure")).toBe(isSecure);
  });
});

describe("a session over HTTPS", () => {
  const https = { "x-forwarded-proto": "https" };
  const attributes = "Path=/; HttpOnly; SameSite=Strict; Secure";

  test("has a second cookie with the prefix __Host-, and sign-out deletes both cookies", async () => {
    expect((await signIn(rootKey, https)).headers["set-cookie"]).toEqual([
      `runtime_api_key=${encodedRootKey}; Max-Age=1800; ${attributes}`,
      `__Host-runtime_api_key=${encodedRootKey}; Max-Age=1800; ${attributes}`,
    ]);
    expect((await signOut(https)).headers["set-cookie"]).toEqual([
      `runtime_api_key=; Max-Age=0; ${attributes}`,
      `__Host-runtime_api_key=; Max-Age=0; ${attributes}`,
    ]);
  });

  test("is read from the __Host- cookie first, but either cookie alone is sufficient", async () => {
    const { key } = await createKey("second cookie");
    expect(nameIn(await whoAmI({ cookie: `runtime_api_key=${encodedRootKey}; __Host-runtime_api_key=${key}` }))).toBe("second cookie");
    expect(nameIn(await whoAmI({ cookie: `runtime_api_key=${encodedRootKey}` }))).toBe("root");
    expectRefusal(await whoAmI({ cookie: `runtime_api_key=${encodedRootKey}; __Host-runtime_api_key=unknown` }), "AUTH_REQUIRED");
  });
});

describe("signing out", () => {
  test.each([
    ["no cookie", {}],
    ["an unknown key", { cookie: "runtime_api_key=unknown" }],
    ["a malformed cookie", { cookie: "runtime_api_key=%E0%A4%A" }],
    ["the root key", { cookie: `runtime_api_key=${encodedRootKey}` }],
    ["the root key, the second time", { cookie: `runtime_api_key=${encodedRootKey}` }],
  ])("deletes the session cookie when the request has %s", async (_, headers) => {
    const answer = await signOut(headers);

    expect(answer.status).toBe(204);
    expect(answer.text).toBe("");
    expect(answer.headers["set-cookie"]).toBe("runtime_api_key=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict");
  });
});

describe("the credentials of a request", () => {
  test("are checked in the order X-API-Key, bearer token, cookie until one is valid", async () => {
    const first = (await createKey("first")).key;
    const second = (await createKey("second")).key;

    expect(nameIn(await whoAmI({ "x-api-key": first, ...bearer(second) }))).toBe("first");
    expect(nameIn(await whoAmI({ ...bearer(first), ...cookie(second) }))).toBe("first");
    expect(nameIn(await whoAmI({ "x-api-key": "unknown", ...bearer(second) }))).toBe("second");
    expect(nameIn(await whoAmI({ "x-api-key": "unknown", ...cookie(second) }))).toBe("second");
    expect(nameIn(await whoAmI({ ...bearer(rootKey) }))).toBe("root");
  });

  test("are rejected when the request has two X-API-Key headers", async () => {
    const { key } = await createKey("doubled");

    expectRefusal(await whoAmI({ "x-api-key": [key, key] }), "AUTH_REQUIRED");
  });

  test.each([["x"], ["\t"], ["ü"], ["k".repeat(14_000)], ['"']])(
    "are rejected when %j follows the root key; a header can end with a tab",
    async (addition) => {
      const key = rootKey + addition;
      const expected = addition === "\t" ? 200 : 401;

      // White space around a header's value is not part of the value.
      expect((await whoAmI({ "x-api-key": key })).status).toBe(expected);
      expect((await whoAmI({ cookie: `runtime_api_key=${encodeURIComponent(key)}` })).status).toBe(401);
    },
  );
});

describe("a request without an Origin header that changes data", () => {
  test("is accepted with the root key in X-API-Key or Authorization", async () => {
    expect((await createWithoutOrigin({ "x-api-key": rootKey })).status).toBe(201);
    expect((await createWithoutOrigin({ authorization: `Bearer ${rootKey}` })).status).toBe(201);
    expect((await createWithoutOrigin({ "x-api-key": rootKey, origin: "http://evil.example" })).status).toBe(201);
  });

  test("is accepted with X-Runtime-Internal and a key, and rejected without a key", async () => {
    const { key } = await createKey("inside");

    expect((await createWithoutOrigin({ "x-api-key": key, "x-runtime-internal": "true" })).status).toBe(201);
    expect((await createWithoutOrigin({ cookie: `runtime_api_key=${key}`, "x-runtime-internal": "true" })).status).toBe(201);
    expectRefusal(await createWithoutOrigin({ "x-runtime-internal": "true" }), "AUTH_REQUIRED");
  });

  test("is rejected when the root key is in the cookie and another key is in X-API-Key", async () => {
    const { key } = await createKey("header first");

    expectRefusal(await createWithoutOrigin({ "x-api-key": key, cookie: `runtime_api_key=${encodedRootKey}` }), "CSRF_ORIGIN_REQUIRED");
    expectRefusal(
      await createWithoutOrigin({ "x-api-key": "unknown", cookie: `runtime_api_key=${encodedRootKey}` }),
      "CSRF_ORIGIN_REQUIRED",
    );
  });
});
