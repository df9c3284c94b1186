import { describe, expect, test } from "vitest";
import { requestOf, stageGateway } from "./gateway-stage.js";

async function headersOf(settings: Record<string, unknown>, request = requestOf("/"), answer = new Response(null)) {
  return Object.fromEntries((await (await stageGateway(settings)).send(request, { answer })).headers);
}

const own = (): Response => new Response(null, { headers: { "x-frame-options": "DENY" } });

describe("security headers", () => {
  test("have a careful choice, without what cannot be taken back", async () => {
    expect(await headersOf({ securityHeaders: true })).toEqual({
      "x-content-type-options": "nosniff",
      "referrer-policy": "strict-origin-when-cross-origin",
      "x-frame-options": "SAMEORIGIN",
    });
  });

  test("are what the map says", async () => {
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

  test("leave the app's own, unless they are to replace them", async () => {
    expect(await headersOf({ securityHeaders: true }, requestOf("/"), own())).toMatchObject({ "x-frame-options": "DENY" });
    const overriding = { securityHeaders: { frameOptions: "SAMEORIGIN", override: true } };
    expect(await headersOf(overriding, requestOf("/"), own())).toMatchObject({ "x-frame-options": "SAMEORIGIN" });
  });

  test("promise https only to clients that came by it, as a trusted proxy says", async () => {
    const strict = { maxAge: "365d", includeSubDomains: true, preload: true };
    const settings = { trustedProxies: ["10.0.0.0/8"], securityHeaders: { strictTransportSecurity: strict } };
    const promised = async (from: string, proto: string) =>
      (await headersOf(settings, requestOf("/", { from, headers: { "x-forwarded-proto": proto } })))["strict-transport-security"];
    expect(await promised("192.0.2.1, 10.0.0.1", "https")).toBe("max-age=31536000; includeSubDomains; preload");
    expect(await promised("10.0.0.1", "https")).toBeDefined();
    expect(await promised("192.0.2.1, 10.0.0.1", "http")).toBeUndefined();
    expect(await promised("10.0.0.1, 192.0.2.1", "https"), "anybody can claim it").toBeUndefined();
  });

  test("stand on the gateway's own answers too", async () => {
    const stage = await stageGateway({ securityHeaders: true, rateLimits: [{ limit: 1, window: "1m" }], cors: [{ origins: ["*"] }] });
    await stage.send(requestOf("/"));
    const refused = await stage.send(requestOf("/"));
    expect([refused.status, refused.headers.get("x-content-type-options")]).toEqual([429, "nosniff"]);
  });

  test("are all that there is a hook for", async () => {
    expect(Object.keys((await stageGateway({ securityHeaders: true })).plugin).toSorted()).toEqual(["onInit", "onResponse", "onShutdown"]);
    expect(Object.keys((await stageGateway({})).plugin).toSorted()).toEqual(["onInit", "onShutdown"]);
  });
});
