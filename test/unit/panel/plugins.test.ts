import { describe, expect, test } from "vitest";
import { checkFrame } from "../../../src/cpanel/pages/plugins/frame-check.js";
import { isOwnPage, nameIn, pageOf } from "../../../src/cpanel/pages/plugins/plugin-address.js";
import { toRows } from "../../../src/cpanel/pages/plugins/plugin-row.js";

const origin = "http://daemon.test";

test.each([
  ["/board", "/board", true],
  ["/board", "/board/rules?x=1", true],
  ["/board", "/boards", false],
  ["/board", "/board/../api/keys", false],
  ["/board", "/board/%2e%2e/api/keys", false],
  ["/board", "//evil.test/board/", false],
  ["/board", "https://evil.test/board/", false],
  ["/board", "javascript:alert(1)", false],
  ["", "/api/keys", false],
])("isOwnPage returns whether the plugin with the base path %j serves the path %s", (base, path, isOwn) => {
  expect(isOwnPage({ base }, { path }, origin)).toBe(isOwn);
});

test.each([
  [["guard"], "guard"],
  [["@team", "guard"], "@team/guard"],
  [["@team"], undefined],
  [["guard", "files"], undefined],
  [[], undefined],
])("nameIn returns the plugin name in the path segments %j", (rest, name) => {
  expect(nameIn(rest)).toBe(name);
});

test("pageOf percent-encodes the path of a plugin's page in the URL of the panel", () => {
  expect(pageOf("@team/board", { title: "Board", path: "/board/?a=1&b=2" })).toBe("plugins/@team/board?at=%2Fboard%2F%3Fa%3D1%26b%3D2");
});

const check = (status: number, headers: Readonly<Record<string, string>> = {}) =>
  checkFrame("/board/", new AbortController().signal, async () => new Response("page", { status, headers }));

const failing = () => Promise.reject(new TypeError("failed to fetch"));

describe("checkFrame", () => {
  test.each([
    [404, {}, "absent"],
    [500, {}, "failed"],
    [200, {}, undefined],
    [200, { "x-frame-options": "DENY" }, "unframeable"],
    [200, { "x-frame-options": "SAMEORIGIN" }, undefined],
    [200, { "content-security-policy": "default-src 'self'; frame-ancestors 'none'" }, "unframeable"],
    [200, { "content-security-policy": "frame-ancestors 'self'", "x-frame-options": "DENY" }, undefined],
  ])("returns the result for a response with the status %d and the headers %j", async (status, headers, refusal) => {
    expect(await check(status, headers)).toBe(refusal);
  });

  test("rejects when the daemon is unreachable", async () => {
    await expect(checkFrame("/board/", new AbortController().signal, failing)).rejects.toThrow("failed to fetch");
  });
});

const plugin = (name: string) =>
  ({
    name,
    path: "",
    removable: true,
    source: "uploaded",
    version: "1.0.0",
    enabled: true,
    status: "loaded",
    health: { state: "ok", since: 0 },
  }) as const;
const loaded = (name: string, dependencies: string[]) => ({ name, base: "", dependencies, optionalDependencies: [], menus: [] });

test("toRows returns each plugin's hook position and the plugins that require it", () => {
  const rows = toRows([plugin("guard"), plugin("audit"), plugin("off")], [loaded("guard", []), loaded("audit", ["guard"])]);
  expect(rows.map(({ position, neededBy }) => [position, neededBy])).toEqual([
    [1, ["audit"]],
    [2, []],
    [0, []],
  ]);
});
