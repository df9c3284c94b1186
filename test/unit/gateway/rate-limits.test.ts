import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { PluginPrincipal } from "../../../src/plugin/index.js";
import { BoundedLimiter } from "../../../src/gateway/bounded-limiter.js";
import { requestOf, shop, loadGateway, type GatewayHarness } from "./gateway-harness.js";

beforeEach(() => {
  vi.useFakeTimers({ now: 1_800_000_000_000 });
});

afterEach(() => {
  vi.useRealTimers();
});

const principal = (id: number): PluginPrincipal => ({
  id,
  name: `key ${id}`,
  keyPrefix: "rk_",
  role: "viewer",
  permissions: [],
  namespaces: ["*"],
});

const login = (method: string): Request => requestOf("/shop/login", { method });

/** Sends `count` requests in sequence and returns their statuses. */
async function statuses(gateway: GatewayHarness, count: number, makeRequest: (index: number) => Request): Promise<number[]> {
  const seen: number[] = [];
  for (let index = 0; index < count; index += 1) seen.push((await gateway.send(makeRequest(index))).status);
  return seen;
}

describe("a rate limit", () => {
  test("allows requests up to its limit, then responds with 429 until the window ends", async () => {
    const gateway = await loadGateway({ rateLimits: [{ name: "everyone", limit: 2, window: "10s" }] });
    expect(await statuses(gateway, 4, () => requestOf("/shop/"))).toEqual([200, 200, 429, 429]);

    vi.advanceTimersByTime(7400);
    const refused = await gateway.send(requestOf("/shop/"));
    expect(refused.status).toBe(429);
    expect(await refused.json()).toEqual({ error: { code: "RATE_LIMITED", message: "Too many requests. Retry in 3 s." } });
    expect(Object.fromEntries(refused.headers)).toEqual({
      "cache-control": "no-store",
      "content-type": "application/json",
      "retry-after": "3",
      "ratelimit-limit": "2",
      "ratelimit-remaining": "0",
      "ratelimit-reset": "3",
    });

    vi.advanceTimersByTime(2600);
    expect(await statuses(gateway, 3, () => requestOf("/shop/"))).toEqual([200, 200, 429]);
    expect(Object.fromEntries(gateway.counts)).toEqual({ "gateway_allowed everyone": 4, "gateway_limited everyone": 4 });
  });

  test("rejects requests during its block time, which further requests do not extend", async () => {
    const gateway = await loadGateway({ rateLimits: [{ limit: 1, window: "1s", block: "1m" }] });
    expect(await statuses(gateway, 2, () => requestOf("/"))).toEqual([200, 429]);
    for (let second = 0; second < 59; second += 1) {
      vi.advanceTimersByTime(1000);
      expect((await gateway.send(requestOf("/"))).status).toBe(429);
    }
    vi.advanceTimersByTime(1000);
    expect((await gateway.send(requestOf("/"))).status).toBe(200);
  });

  test("counts each client separately, and IPv6 clients by their /64 network", async () => {
    const gateway = await loadGateway({ rateLimits: [{ limit: 1, window: "1m" }] });
    const from = (address: string) => async () => (await gateway.send(requestOf("/", { from: address }))).status;
    expect(await from("192.0.2.1")()).toBe(200);
    expect(await from("192.0.2.2")()).toBe(200);
    expect(await from("::ffff:192.0.2.1")()).toBe(429);
    expect(await from("2001:db8::1")()).toBe(200);
    expect(await from("2001:db8::2:3")()).toBe(429);
    expect(await from("2001:db8:0:1::1")()).toBe(200);
  });

  test("ignores a forged X-Forwarded-For header", async () => {
    const rateLimits = [{ limit: 1, window: "1m" }];
    for (const trustedProxies of [[], ["10.0.0.0/8"]]) {
      const gateway = await loadGateway({ trustedProxies, rateLimits });
      const seen = await statuses(gateway, 4, (index) => requestOf("/", { from: `203.0.113.${index}, 10.0.0.${index}, 192.0.2.1` }));
      expect(seen).toEqual([200, 429, 429, 429]);
    }
    const gateway = await loadGateway({ trustedProxies: ["10.0.0.0/8"], rateLimits });
    const seen = await statuses(gateway, 3, (index) => requestOf("/", { from: `203.0.113.${index}, 192.0.2.1, 10.0.0.${index}` }));
    expect(seen).toEqual([200, 429, 429]);
  });

  test("counts all clients without an address as one client", async () => {
    const gateway = await loadGateway({ rateLimits: [{ limit: 1, window: "1m" }] });
    expect(await statuses(gateway, 2, () => requestOf("/", { from: "unknown" }))).toEqual([200, 429]);
  });

  test("applies only to the configured paths and methods, and treats HEAD as GET", async () => {
    const gateway = await loadGateway({ rateLimits: [{ paths: ["/shop/login"], methods: ["POST", "GET"], limit: 1, window: "1m" }] });
    expect(await statuses(gateway, 2, () => login("PUT"))).toEqual([200, 200]);
    expect(await statuses(gateway, 2, () => requestOf("/shop/", { method: "POST" }))).toEqual([200, 200]);
    expect((await gateway.send(login("POST"))).status).toBe(200);
    for (const method of ["POST", "GET", "HEAD"]) expect((await gateway.send(login(method))).status, method).toBe(429);
    expect((await gateway.send(requestOf("/shop@1.0.0/%6Cogin", { method: "POST" }))).status).toBe(429);
  });

  test("counts requests per API key with `by: key`, or per client without a key", async () => {
    const ids = new Map([
      ["a", 1],
      ["b", 2],
    ]);
    const gateway = await loadGateway({ rateLimits: [{ by: "key", limit: 1, window: "1m" }] }, (request) => {
      const id = ids.get(request.headers.get("x-test") ?? "");
      return id === undefined ? undefined : principal(id);
    });
    const send = async (who: string, from: string) => (await gateway.send(requestOf("/", { from, headers: { "x-test": who } }))).status;
    expect([await send("a", "192.0.2.1"), await send("a", "192.0.2.2")]).toEqual([200, 429]);
    expect([await send("b", "192.0.2.1"), await send("b", "192.0.2.1")]).toEqual([200, 429]);
    expect([await send("", "192.0.2.1"), await send("?", "192.0.2.1"), await send("", "192.0.2.2")]).toEqual([200, 429, 200]);
  });

  test("counts requests per header value with `by: key` and `keyHeader`", async () => {
    const gateway = await loadGateway({ rateLimits: [{ by: "key", keyHeader: "X-Shop-Key", limit: 1, window: "1m" }] });
    const send = async (key: string, from = "192.0.2.1") =>
      (await gateway.send(requestOf("/", { from, headers: key === "" ? {} : { "x-shop-key": key } }))).status;
    expect([await send("a"), await send("a", "192.0.2.9"), await send("b")]).toEqual([200, 429, 200]);
    expect([await send(""), await send("")]).toEqual([200, 429]);
  });

  test("counts requests per normalized path with `by: path`, or per client and path", async () => {
    const byPath = await loadGateway({ rateLimits: [{ by: "path", limit: 1, window: "1m" }] });
    const paths = ["/shop/a", "/shop/b", "/shop/a?x", "/shop@1/a", "/shop/%61/", `/shop/${"x".repeat(300)}`, `/shop/${"x".repeat(301)}`];
    expect(await statuses(byPath, paths.length, (index) => requestOf(paths[index] as string, { from: `192.0.2.${index}` }))).toEqual([
      200, 200, 429, 429, 429, 200, 200,
    ]);

    const byBoth = await loadGateway({ rateLimits: [{ by: ["client", "path"], limit: 1, window: "1m" }] });
    const send = async (path: string, from: string) => (await byBoth.send(requestOf(path, { from }))).status;
    expect([await send("/a", "192.0.2.1"), await send("/a", "192.0.2.2"), await send("/b", "192.0.2.1")]).toEqual([200, 200, 200]);
    expect([await send("/a", "192.0.2.1"), await send("/b", "192.0.2.1")]).toEqual([429, 429]);
  });

  test("counts a request in all matching limits until one limit is exceeded", async () => {
    const rateLimits = [
      { name: "wide", limit: 3, window: "1m" },
      { name: "narrow", paths: ["/shop/login"], limit: 1, window: "1m" },
    ];
    const gateway = await loadGateway({ rateLimits });
    expect(await statuses(gateway, 2, () => requestOf("/shop/login"))).toEqual([200, 429]);
    expect(await statuses(gateway, 2, () => requestOf("/shop/"))).toEqual([200, 429]);
    expect(Object.fromEntries(gateway.counts)).toEqual({
      "gateway_allowed wide": 3,
      "gateway_allowed narrow": 1,
      "gateway_limited narrow": 1,
      "gateway_limited wide": 1,
    });
  });

  test("adds an onResponse hook only when rateLimitHeaders is true", async () => {
    const rateLimits = [
      { limit: 10, window: "1m" },
      { limit: 5, window: "1m" },
    ];
    const silent = await loadGateway({ rateLimits });
    expect(Object.keys(silent.plugin).toSorted()).toEqual(["onInit", "onRequest", "onShutdown"]);

    const telling = await loadGateway({ rateLimits, rateLimitHeaders: true });
    await telling.send(requestOf("/"));
    const answer = await telling.send(requestOf("/"));
    expect(await answer.text()).toBe("app");
    expect(answer.headers.get("ratelimit-limit")).toBe("5");
    expect(answer.headers.get("ratelimit-remaining")).toBe("3");
    expect(answer.headers.get("ratelimit-reset")).toBe("60");
    const skipped = await telling.plugin.onResponse?.(new Response("app"), shop, requestOf("/"));
    expect(skipped && [...skipped.headers.keys()]).toEqual(["content-type"]);
  });

  test("leaves no timer after plugin shutdown", async () => {
    const gateway = await loadGateway({ rateLimits: [{ limit: 10, window: "1h" }] });
    await statuses(gateway, 20, (index) => requestOf("/", { from: `192.0.2.${index}` }));
    expect(vi.getTimerCount()).toBe(20);
    await gateway.plugin.onShutdown?.();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("the request counters of clients", () => {
  const options = { limit: 1, windowMs: 10_000, blockMs: 0, mostKeys: 100 };

  test("are limited in number: the counter of the longest inactive client is deleted", async () => {
    const limiter = new BoundedLimiter(options);
    await limiter.consume("loyal");
    for (let index = 0; index < 1000; index += 1) {
      await limiter.consume(`passer-by ${index}`);
      expect((await limiter.consume("loyal")).isRefused).toBe(true);
    }
    expect(limiter.size).toBe(100);
    expect(vi.getTimerCount()).toBe(100);
    expect((await limiter.consume("passer-by 999")).isRefused).toBe(true);
    expect((await limiter.consume("passer-by 0")).isRefused).toBe(false);
  });

  test("are deleted at the end of their window", async () => {
    const limiter = new BoundedLimiter(options);
    for (let index = 0; index < 60; index += 1) await limiter.consume(`early ${index}`);
    vi.advanceTimersByTime(10_001);
    for (let index = 0; index < 60; index += 1) await limiter.consume("late");
    expect(limiter.size).toBe(1);
  });
});
