import { describe, expect, test } from "vitest";
import { originProblem, Origins } from "../../../src/gateway/origins.js";
import { requestOf, loadGateway } from "./gateway-harness.js";

const page = "https://app.example.com";

function preflight(path: string, origin: string, headers: Record<string, string> = {}): Request {
  return requestOf(path, { method: "OPTIONS", headers: { origin, "access-control-request-method": "PUT", ...headers } });
}

const corsHeadersOf = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => name === "vary" || name.startsWith("access-control-")));

describe("a preflight request", () => {
  test("receives a response of the gateway when a rule lists the request's origin", async () => {
    const rule = { name: "shop", paths: ["/shop/**"], origins: [page], methods: ["PUT"], credentials: true, maxAge: "10m" };
    const gateway = await loadGateway({ cors: [{ ...rule, allowedHeaders: ["content-type", "x-a"], exposedHeaders: ["x-total"] }] });
    const answer = await gateway.send(preflight("/shop/cart", page), { answer: new Response(null, { status: 500 }) });

    expect(answer.status).toBe(204);
    expect(corsHeadersOf(answer)).toMatchObject({
      "access-control-allow-origin": page,
      "access-control-allow-credentials": "true",
      "access-control-allow-methods": "PUT",
      "access-control-allow-headers": "content-type, x-a",
      "access-control-max-age": "600",
      vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
    });
    expect(Object.fromEntries(gateway.counts)).toEqual({ "gateway_preflights shop": 1 });
  });

  test("receives a response without CORS headers for another origin", async () => {
    const gateway = await loadGateway({ cors: [{ origins: [page] }] });
    const answer = await gateway.send(preflight("/shop/", "https://evil.test"));
    expect(answer.status).toBe(204);
    expect(corsHeadersOf(answer)).toEqual({ vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers" });
    expect(Object.fromEntries(gateway.counts)).toEqual({ "gateway_preflights none": 1 });
  });

  test("permits any valid request header when the rule lists no header", async () => {
    const gateway = await loadGateway({ cors: [{ origins: ["*"] }] });
    const asking = async (names: string) =>
      (await gateway.send(preflight("/", page, { "access-control-request-headers": names }))).headers.get("access-control-allow-headers");
    expect(await asking("content-type,x-a")).toBe("content-type,x-a");
    expect(await asking("x-a, x-b")).toBe("x-a, x-b");
    for (const invalid of ["<script>", "a b", "a,,b", "a;q=1", ","]) expect(await asking(invalid), invalid).toBeNull();
  });

  test("reaches the worker when no rule matches or a preflight header is missing", async () => {
    const gateway = await loadGateway({ cors: [{ paths: ["/shop/**"], origins: [page] }] });
    expect(await (await gateway.send(preflight("/other", page))).text()).toBe("app");
    expect(await (await gateway.send(requestOf("/shop/", { method: "OPTIONS" }))).text()).toBe("app");
    expect(await (await gateway.send(requestOf("/shop/", { method: "OPTIONS", headers: { origin: page } }))).text()).toBe("app");
    expect(gateway.counts.size).toBe(0);
  });

  test("counts toward rate limits, but is accepted even above a limit", async () => {
    const gateway = await loadGateway({ cors: [{ origins: [page] }], rateLimits: [{ limit: 2, window: "1m" }] });
    for (let index = 0; index < 5; index += 1) expect((await gateway.send(preflight("/", page))).status).toBe(204);
    const refused = await gateway.send(requestOf("/", { headers: { origin: page } }));
    expect(refused.status).toBe(429);
    expect(refused.headers.get("access-control-allow-origin"), "the page can read that it was refused").toBe(page);
  });

  test("is rejected by a rate limit that lists the method OPTIONS", async () => {
    const rateLimits = [{ methods: ["OPTIONS"], limit: 1, window: "1m" }];
    const gateway = await loadGateway({ cors: [{ origins: [page] }], rateLimits });
    expect((await gateway.send(preflight("/", page))).status).toBe(204);
    expect((await gateway.send(preflight("/", page))).status).toBe(429);
  });
});

/** Returns the CORS headers of a response to a page of that origin. */
async function headersOf(
  cors: unknown[],
  origin: string | undefined,
  appHeaders: Record<string, string> = {},
): Promise<Record<string, string>> {
  const gateway = await loadGateway({ cors });
  const request = requestOf("/shop/", { headers: origin === undefined ? {} : { origin } });
  return corsHeadersOf(await gateway.send(request, { answer: new Response("app", { headers: appHeaders }) }));
}

describe("the response to a request that matches a CORS rule", () => {
  test("allows pages of the rule's origins to read the response", async () => {
    expect(await headersOf([{ origins: [page], credentials: true, exposedHeaders: ["x-a", "x-b"] }], page)).toEqual({
      "access-control-allow-origin": page,
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": "x-a, x-b",
      vary: "Origin",
    });
  });

  test("is the same for all origins when the rule has the origin *", async () => {
    for (const origin of [page, "null", undefined])
      expect(await headersOf([{ origins: ["*"] }], origin)).toEqual({ "access-control-allow-origin": "*" });
  });

  test("contains Vary: Origin even if the request has no Origin header", async () => {
    expect(await headersOf([{ origins: [page] }], undefined)).toEqual({ vary: "Origin" });
    expect(await headersOf([{ origins: [page] }, { origins: ["*"] }], "https://other.test")).toEqual({
      "access-control-allow-origin": "*",
      vary: "Origin",
    });
  });

  test("keeps the values that the worker set in the Vary header", async () => {
    const cases = [
      ["Accept", "Accept, Origin"],
      ["accept, origin", "accept, origin"],
      ["*", "*"],
    ] as const;
    for (const [vary, result] of cases) expect((await headersOf([{ origins: [page] }], page, { vary }))["vary"]).toBe(result);
  });

  test("contains the rule's CORS headers instead of the worker's", async () => {
    const lavish = { "access-control-allow-origin": "https://evil.test", "access-control-allow-credentials": "true" };
    expect(await headersOf([{ origins: [page] }], "https://evil.test", lavish)).toEqual({ vary: "Origin" });
    expect(await headersOf([{ origins: [page] }], page, lavish)).toEqual({ "access-control-allow-origin": page, vary: "Origin" });
    expect(await headersOf([{ origins: [page], paths: ["/other"] }], "https://evil.test", lavish)).toEqual(lavish);
  });

  test("contains CORS headers even if the worker's headers are immutable", async () => {
    const gateway = await loadGateway({ cors: [{ origins: ["*"] }] });
    const answer = await gateway.send(requestOf("/"), { answer: Response.redirect("https://example.com/", 302) });
    expect([answer.status, answer.headers.get("location"), answer.headers.get("access-control-allow-origin")]).toEqual([
      302,
      "https://example.com/",
      "*",
    ]);
  });
});

describe("an origin of a CORS rule", () => {
  test("with a wildcard, matches any subdomain with the same scheme and port", () => {
    const origins = new Origins(["https://*.example.com", "http://*.localhost:3000"]);
    for (const origin of ["https://a.example.com", "https://a.b-c.example.com", "http://x.localhost:3000"])
      expect(origins.allows(origin), origin).toBe(true);
    for (const origin of [
      "https://example.com",
      "https://.example.com",
      "http://a.example.com",
      "https://a.example.com:8443",
      "https://evilexample.com",
      "https://a.example.com.evil.test",
      "https://evil.test/.example.com",
      "https://evil.test?.example.com",
      "https://user@a.example.com",
      "https://a..example.com",
      "http://x.localhost",
      "null",
      "",
    ])
      expect(origins.allows(origin), origin).toBe(false);
  });

  test.each(["*", "null", page, "http://localhost:3000", "http://[::1]:3000", "https://*.example.com", "https://*.localhost", "app://x"])(
    "is accepted with the value %s",
    (origin) => expect(originProblem(origin)).toBeUndefined(),
  );

  test.each([
    ["example.com", "is not an origin"],
    ["https://example.com/", "write https://example.com"],
    ["https://Example.com", "write https://example.com"],
    ["https://example.com:443", "write https://example.com"],
    ["https://*.com", "top-level domain"],
    ["https://a.*.com", "is not an origin"],
    ["https://*", "is not an origin"],
    ["*.example.com", "is not an origin"],
    ["", "is not an origin"],
  ])("is rejected with the value %j", (origin, words) => expect(originProblem(origin)).toContain(words));
});
