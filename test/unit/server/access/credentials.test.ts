import type { IncomingHttpHeaders } from "node:http";
import { describe, expect, test } from "vitest";
import { PanelHost } from "../../../../src/server/web/panel-host.js";
import { credentialsOf } from "../../../../src/server/access/credentials.js";

const secretsOf = (headers: IncomingHttpHeaders) => credentialsOf(headers, undefined).map(({ secret }) => secret);

describe("the list of a request's credentials", () => {
  test("contains X-API-Key, then the bearer token, then the cookie, with their sources", () => {
    expect(credentialsOf({ "x-api-key": "a", authorization: "Bearer b", cookie: "runtime_api_key=c" }, undefined)).toEqual([
      { secret: "a", channel: "header" },
      { secret: "b", channel: "header" },
      { secret: "c", channel: "cookie" },
    ]);
  });

  test("is empty for a request without credentials", () => {
    expect(credentialsOf({}, undefined)).toEqual([]);
    expect(credentialsOf({ "x-api-key": "", authorization: "", cookie: "" }, undefined)).toEqual([]);
  });
});

describe("bearer tokens", () => {
  test.each([
    ["Bearer rtk_x", ["rtk_x"]],
    ["bearer rtk_x", ["rtk_x"]],
    ["Bearer   rtk_x", ["rtk_x"]],
    ["Bearer a b", ["a b"]],
    ["Bearer", []],
    ["Bearer ", []],
    ["Bearerrtk_x", []],
    ["Basic cm9vdDpr", []],
    ["Token rtk_x", []],
    ["rtk_x", []],
  ])("are read from the header Authorization: %s as %j", (authorization, expected) => {
    expect(secretsOf({ authorization })).toEqual(expected);
  });
});

describe("session cookies", () => {
  test.each([
    ["runtime_api_key=abc", ["abc"]],
    ["a=1; runtime_api_key=abc; b=2", ["abc"]],
    ["a=1;runtime_api_key=abc", ["abc"]],
    ["runtime_api_key = abc ", ["abc"]],
    ["runtime_api_key=a%3Bb%2Cc%3D%25%20d%22", ['a;b,c=% d"']],
    ["runtime_api_key=a=b==", ["a=b=="]],
    ['runtime_api_key="abc"', ["abc"]],
    ['runtime_api_key=""', []],
    ['runtime_api_key="', []],
    ["runtime_api_key=", []],
    ["runtime_api_key", []],
    ["runtime_api_key=%", []],
    ["runtime_api_key=%E0%A4%A", []],
    ["runtime_api_key=%ff", []],
    ["Runtime_Api_Key=abc", []],
    ["xruntime_api_key=abc", []],
    ["runtime_api_key_2=abc", []],
    ["runtime_api_key=first; runtime_api_key=second", ["first", "second"]],
    ["runtime_api_key=same; runtime_api_key=same", ["same"]],
    ["runtime_api_key=%; runtime_api_key=second", ["second"]],
    ["runtime_api_key=; runtime_api_key=second", ["second"]],
    ["\u00a0runtime_api_key=abc", []],
    ["__proto__=x; runtime_api_key=abc", ["abc"]],
    [";;; ;=; runtime_api_key=abc;", ["abc"]],
    ["runtime_api_key=junk; __Host-runtime_api_key=own; runtime_api_key=more", ["own"]],
    ["__Host-runtime_api_key=; runtime_api_key=abc", ["abc"]],
    ["__host-runtime_api_key=junk; runtime_api_key=abc", ["abc"]],
    ["__Secure-runtime_api_key=junk", []],
  ])("are read from the header Cookie: %s as %j", (cookie, expected) => {
    expect(secretsOf({ cookie })).toEqual(expected);
  });
});

test.each([
  ["panel.example.org", ["abc"]],
  ["panel.example.org:8000", ["abc"]],
  ["apps.example.org", []],
  [undefined, []],
])("if a panel host is set, a request with the header Host: %s uses the cookies %j", (host, expected) => {
  const headers = { cookie: "runtime_api_key=abc", ...(host !== undefined && { host }) };
  expect(credentialsOf(headers, PanelHost.parse("panel.example.org")).map(({ secret }) => secret)).toEqual(expected);
  expect(credentialsOf({ ...headers, "x-api-key": "key" }, PanelHost.parse("panel.example.org"))[0]).toEqual({
    secret: "key",
    channel: "header",
  });
});

test("the daemon reads at most eight session cookies of a request", () => {
  const cookie = Array.from({ length: 9 }, (_, index) => `runtime_api_key=${index}`).join("; ");

  expect(secretsOf({ cookie })).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
});

test("the daemon ignores a credential that is longer than any valid key", () => {
  const longest = "k".repeat(512);
  const tooLong = `${longest}k`;

  expect(secretsOf({ "x-api-key": longest, authorization: `Bearer ${longest}`, cookie: `runtime_api_key=${longest}` })).toEqual([
    longest,
    longest,
    longest,
  ]);
  expect(secretsOf({ "x-api-key": tooLong, authorization: `Bearer ${tooLong}`, cookie: `runtime_api_key=${tooLong}` })).toEqual([]);
});
