import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PublicRoutes } from "../../../../src/server/plugins/public-routes.js";
import { ReservedPaths } from "../../../../src/server/web/reserved-paths.js";
import { ServerRoutes } from "../../../../src/server/plugins/server-routes.js";

const get = { method: "GET", isHandshake: false };
const isPublic = (declared: ConstructorParameters<typeof PublicRoutes>[0], path: string, how: Partial<typeof get> = {}) =>
  new PublicRoutes(declared).has(path, { ...get, ...how });

describe("public routes", () => {
  test.each([
    ["/login", "/login", true],
    ["/login", "/login/", false],
    ["/login", "/Login", false],
    ["/login", "/login/x", false],
    ["/login", "/%6cogin", false],
    ["/", "", true],
    ["/*", "/a", true],
    ["/*", "/", false],
    ["/*", "/a/b", false],
    ["/a/*/c", "/a/b/c", true],
    ["/a/*/c", "/a//c", false],
    ["/a/**", "/a", true],
    ["/a/**", "/a/", true],
    ["/a/**", "/a/b/c.js", true],
    ["/a/**", "/ab", false],
    ["**", "/any/thing", true],
    ["login", "/login", true],
    ["/a/**/secret", "/a/x/secret", false],
    ["/*.js", "/app.js", false],
  ])("with the pattern %s are compared with the path %s (included: %s)", (pattern, path, expected) => {
    expect(isPublic([pattern], path)).toBe(expected);
  });

  test("include HEAD when they include GET, but no WebSocket handshake", () => {
    const declared = { get: ["/a"], POST: ["/b"] };
    expect(isPublic(declared, "/a")).toBe(true);
    expect(isPublic(declared, "/a", { method: "HEAD" })).toBe(true);
    expect(isPublic(declared, "/a", { method: "POST" })).toBe(false);
    expect(isPublic(declared, "/b", { method: "POST" })).toBe(true);
    expect(isPublic(declared, "/a", { isHandshake: true })).toBe(false);
    expect(isPublic(["/a"], "/a", { isHandshake: true })).toBe(true);
    expect(isPublic(declared, "/a", { method: "constructor" })).toBe(false);
  });

  test.each([
    "/p/../secret",
    "/p/%2e%2e/secret",
    "/p/.%2E/secret",
    "/p/..;/secret",
    "/p/%2e",
    "/p/.",
    "/p\\..\\secret",
    "/p/%5c..%5csecret",
    "/p//secret",
    "/p/%2fsecret",
    "/p/%252e%252e/x",
    "/p/%00",
    "/p/%0a",
    "/p/%",
    "/p/%zz",
    "/p/%c0%af",
    "/p/ä",
    "/p/a b",
    "/p/\t",
    "/p/x?y",
    "/p/x#y",
    "/p/%3fx",
    "p/x",
  ])("do not include the unsafe path %s", (path) => {
    expect(isPublic(["/p/**", "**", "/*/*"], path)).toBe(false);
  });

  test("do not include a path that begins in the public folder and leaves this folder", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        "..",
        ".",
        "%2e",
        "%2E.",
        "%2f",
        "%5c",
        "\\",
        "/",
        "//",
        ";",
        "%25",
        "%00",
        "p",
        "secret",
        "%",
        "?",
        "#",
        "%c0%ae",
        " ",
        "\t",
      ),
      fc.string({ maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = `/p/${pieces.join("")}`;
        if (!isPublic(["/p/**"], path)) return;
        expect(new URL(`http://x${path}`).pathname).toBe(path);
        const twice = decodeURIComponent(decodeURIComponent(path));
        expect(new URL(twice.replaceAll("\\", "/"), "http://x").pathname.startsWith("/p")).toBe(true);
        expect(twice).not.toMatch(/\/\.{1,2}(?:\/|;|$)|\\|\/\/|[?#]/);
      }),
      { numRuns: 20_000 },
    );
  });
});

describe("reserved paths", () => {
  const reserved = new ReservedPaths({ apiBase: "/_/api" });

  test("are detected in any spelling, and other paths are not reserved", () => {
    for (const path of [
      "/_/api",
      "/_/api/x",
      "/cpanel",
      "/cpanel/x",
      "/.well-known/x",
      "/%5f/api/x",
      "//cpanel",
      "/x/..%2fcpanel",
      "\\cpanel",
      "//cpanel/..%2f",
      "/x/%2e%2e/cpanel/",
      "/%63panel/%zz",
      "/cpanel%2fx",
    ])
      expect(reserved.has(path), path).toBe(true);
    for (const path of ["/", "/api", "/cpanels", "/x/cpanel", "/_/apis", "/.well-knownx"]) expect(reserved.has(path), path).toBe(false);
  });

  test("are detected in 10,000 random spellings", () => {
    const piece = fc.constantFrom("/", "\\", "%2f", "%5c", "..", ".", "%2e", "cpanel", "%63panel", "x", "%", "%zz");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = `/${pieces.join("")}`;
        const { pathname } = new URL(`http://x${path.replaceAll(/^[/\\]+/g, "/")}`);
        if (pathname === "/cpanel" || pathname.startsWith("/cpanel/")) expect(reserved.has(path), path).toBe(true);
      }),
      { numRuns: 10_000 },
    );
  });
});

const handler = () => new Response("x");

describe("the routes of a plugin server", () => {
  test.each([
    [{ x: handler }, "must start with a slash"],
    [{ "/*/x": handler }, "can have a star only at its end"],
    [{ "/:a/:a": handler }, "a unique name"],
    [{ "/:": handler }, "a unique name"],
    [{ "/a?b": handler }, "without a query"],
    [{ "/a": "x" }, "needs a function"],
    [{ "/a": {} }, "needs a function"],
    [{ "/a": { get: handler } }, "needs a function"],
    [{ "/a": null }, "needs a function"],
  ])("cannot be declared with the invalid definition %j", (declared, message) => {
    expect(() => new ServerRoutes(declared as never)).toThrow(message);
  });

  test("match percent-encoded paths, and their parameters are decoded", () => {
    const routes = new ServerRoutes({ "/ä/:id": handler, "/files/*": handler, "/": handler });
    expect(routes.match("GET", "/%C3%A4/a%2Fb")?.params).toEqual({ id: "a/b" });
    expect(routes.match("GET", "/files/")?.params).toEqual({ "*": "" });
    expect(routes.match("GET", "/files")?.params).toEqual({ "*": "" });
    expect(routes.match("GET", "/filesystem")).toBeUndefined();
    expect(routes.match("GET", "/%66iles/x")).toBeUndefined();
    expect(routes.match("GET", "/")?.handler).toBe(handler);
    expect(routes.match("GET", "/%C3%A4/%zz")?.params).toEqual({ id: "%zz" });
  });
});
