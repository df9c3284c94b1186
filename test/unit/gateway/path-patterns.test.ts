import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PathPatterns, patternProblem, readRulePath } from "../../../src/gateway/path-patterns.js";
import { shop } from "./gateway-harness.js";

const matches = (pattern: string, path: string, app = undefined as typeof shop | undefined): boolean =>
  new PathPatterns([pattern]).match(readRulePath(`http://host.test${path}`, app));

describe("a path pattern", () => {
  test.each([
    ["/shop", "/shop"],
    ["/shop", "/shop/"],
    ["/shop/", "/shop"],
    ["/shop/*", "/shop/a"],
    ["/shop/*", "/shop/a?b=/c/d"],
    ["/shop/**", "/shop"],
    ["/shop/**", "/shop/a/b/c"],
    ["/**", "/"],
    ["/**/login", "/login"],
    ["/**/login", "/a/b/login"],
    ["/a/**/b/**/c", "/a/x/b/y/b/c"],
    ["/*.html", "/index.html"],
    ["/a*b*c", "/aXbXbc"],
    ["/@team/*/x", "/@team/app/x"],
    ["/é", "/%C3%A9"],
  ])("with the text %s matches the path %s", (pattern, path) => expect(matches(pattern, path)).toBe(true));

  test.each([
    ["/shop", "/shopping"],
    ["/shop", "/Shop"],
    ["/shop/*", "/shop"],
    ["/shop/*", "/shop/a/b"],
    ["/*", "/"],
    ["/**/login", "/a/login/b"],
    ["/a.b", "/aXb"],
    ["/a*b*c", "/abX"],
  ])("with the text %s does not match the path %s", (pattern, path) => expect(matches(pattern, path)).toBe(false));

  test.each(["/%6Cogin", "//login", "/login/", "/login//", "/./login", "/a/../login", "/%2e/login", "/login?x", "/%6cogin/%"])(
    "with the text /login/** matches the unnormalized path %s",
    (path) => expect(matches("/login/**", path)).toBe(true),
  );

  test("without a version, matches a worker's path with and without a version", () => {
    expect(matches("/shop/login", "/shop@1.2.0/login", shop)).toBe(true);
    expect(matches("/shop/login", "/%73hop@%5E1/login", shop)).toBe(true);
    expect(matches("/shop@1.2.0/login", "/shop@1.2.0/login", shop)).toBe(true);
    expect(matches("/@team/shop/login", "/@team/shop@latest/login", { ...shop, name: "@team/shop" })).toBe(true);
    expect(matches("/shop", "/shop@1", shop)).toBe(true);
    expect(matches("/shop/login", "/other/login", { ...shop, kind: "plugin" })).toBe(false);
  });

  test("matches long paths in linear time", () => {
    const path = `/${"a".repeat(8000)}/${"a/".repeat(4000)}`;
    const started = performance.now();
    expect(matches(`/${"*a".repeat(50)}b/${"**/a/".repeat(50)}b`, path)).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  test("matches the same paths as the equivalent regular expression", () => {
    const segment = fc.stringMatching(/^[ab*]{1,4}$/).filter((text) => !text.includes("**"));
    const pattern = fc.array(fc.oneof(segment, fc.constant("**")), { maxLength: 5 });
    const path = fc.array(fc.stringMatching(/^[ab]{1,4}$/), { maxLength: 6 });
    fc.assert(
      fc.property(pattern, path, (parts, segments) => {
        const expression = parts.map((part) => (part === "**" ? "(?:/[^/]+)*" : `/${part.replaceAll("*", "[^/]*")}`)).join("");
        const expected = new RegExp(`^${expression}$`).test(segments.map((one) => `/${one}`).join(""));
        expect(matches(`/${parts.join("/")}`, `/${segments.join("/")}`)).toBe(expected);
      }),
    );
  });

  test.each(["", "shop", "*", "/a?b", "/a b", "/a**", "/a/**b"])("is rejected with the invalid text %j", (pattern) => {
    expect(patternProblem(pattern)).toBeDefined();
  });
});
