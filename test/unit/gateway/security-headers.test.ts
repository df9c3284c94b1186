import { describe, expect, test } from "vitest";
import { requestOf, loadGateway } from "./gateway-harness.js";

async function headersOf(settings: Record<string, unknown>, request = requestOf("/"), answer = new Response(null)) {
  return Object.fromEntries((await (await loadGateway(settings)).send(request, { answer })).headers);
}

const own = (): Response => new Response(null, { headers: { "x-frame-options": "DENY" } });

describe("security headers", () => {
  test("are restrictive by default, without Strict-Transport-Security", async () => {
    expect(await headersOf({ securityHeaders: true })).toEqual({
      "x-content-type-options": "nosniff",
      "referrer-policy": "strict-origin-when-cross-origin",
      "x-frame-options": "SAMEORIGIN",
    });
  });

  test("have the values of the settings", async () => {
    const securityHeaders = {
      noSniff: false,
      referrerPolicy: "no-referrer",
      frameAncestors: ["'self'", "https://example.com"],
      permissionsPolicy: "camera=()",
      contentSecurityPolicy: "default-src 'self'",
    };
    expect(await headersOf({ securityHeaders })).toEqual({
      "referrer-policy": "no-referrer",
      "permissions-policy": "camera=()",
      "content-security-policy": "default-src 'self'; frame-ancestors 'self' https://example.com",
    });
    expect(await headersOf({ securityHeaders: { referrerPolicy: false, frameOptions: false, frameAncestors: ["'none'"] } })).toEqual({
      "x-content-type-options": "nosniff",
      "content-security-policy": "frame-ancestors 'none'",
    });
  });

  test("do not replace headers of the worker unless `override` is set", async () => {
    expect(await headersOf({ securityHeaders: true }, requestOf("/"), own())).toMatchObject({ "x-frame-options": "DENY" });
    const overriding = { securityHeaders: { frameOptions: "SAMEORIGIN", override: true } };
    expect(await headersOf(overriding, requestOf("/"), own())).toMatchObject({ "x-frame-options": "SAMEORIGIN" });
  });

  test("include HSTS only if a trusted proxy reports that the client uses HTTPS", async () => {
    const strict = { maxAge: "365d", includeSubDomains: true, preload: true };
    const settings = { trustedProxies: ["10.0.0.0/8"], securityHeaders: { strictTransportSecurity: strict } };
    const promised = async (from: string, proto: string) =>
      (await headersOf(settings, requestOf("/", { from, headers: { "x-forwarded-proto": proto } })))["strict-transport-security"];
    expect(await promised("192.0.2.1, 10.0.0.1", "https")).toBe("max-age=31536000; includeSubDomains; preload");
    expect(await promised("10.0.0.1", "https")).toBeDefined();
    expect(await promised("192.0.2.1, 10.0.0.1", "http")).toBeUndefined();
    expect(await promised("10.0.0.1, 192.0.2.1", "https"), "an untrusted client can send the header").toBeUndefined();
  });

  test("are also part of responses that the gateway creates", async () => {
    const gateway = await loadGateway({ securityHeaders: true, rateLimits: [{ limit: 1, window: "1m" }], cors: [{ origins: ["*"] }] });
    await gateway.send(requestOf("/"));
    const refused = await gateway.send(requestOf("/"));
    expect([refused.status, refused.headers.get("x-content-type-options")]).toEqual([429, "nosniff"]);
  });

  test("need only the onResponse hook of the gateway plugin", async () => {
    expect(Object.keys((await loadGateway({ securityHeaders: true })).plugin).toSorted()).toEqual(["onInit", "onResponse", "onShutdown"]);
    expect(Object.keys((await loadGateway({})).plugin).toSorted()).toEqual(["onInit", "onShutdown"]);
  });
});
