import { describe, expect, test } from "vitest";
import { endText } from "../../../src/cpanel/components/absolute-time.js";
import { endOf, mayGrant, namespacesOf, problemsOf, type KeyFormState } from "../../../src/cpanel/pages/keys/key-form-state.js";
import { keyState } from "../../../src/shared/key-state.js";
import { usualLifetime } from "../../../src/shared/contract/keys.js";
import { operator } from "./sample-data.js";

const draft: KeyFormState = { name: "ci-deploy", role: "editor", permissions: [], namespaces: "*", expiresIn: "90d" };
const daySeconds = 86_400;

describe("problemsOf", () => {
  test.each<[string, Partial<KeyFormState>, Partial<Record<keyof KeyFormState, string>>]>([
    ["valid values", {}, {}],
    ["a blank name", { name: "  " }, { name: "Enter a name that tells" }],
    ["a custom role without permissions", { role: "custom" }, { permissions: "Choose at least one permission." }],
    ["no namespace", { namespaces: " , " }, { namespaces: "Enter at least one namespace, or * for all." }],
    ["a namespace without @", { namespaces: "@team other" }, { namespaces: "other is no namespace" }],
    ["an invalid lifetime", { expiresIn: "soon" }, { expiresIn: "whole number with min, h, d, w, m" }],
  ])("returns the messages for the invalid fields of a form with %s", (_what, part, expected) => {
    const problems = problemsOf({ ...draft, ...part });
    expect(Object.keys(problems)).toEqual(Object.keys(expected));
    for (const [field, text] of Object.entries(expected)) expect(problems[field as keyof KeyFormState]).toContain(text);
  });

  test("returns a message for every invalid field of a form", () => {
    const problems = problemsOf({ name: "", role: "custom", permissions: [], namespaces: "", expiresIn: "" });
    expect(Object.keys(problems).toSorted()).toEqual(["expiresIn", "name", "namespaces", "permissions"]);
  });
});

test("namespacesOf splits a text at spaces and commas", () => {
  expect(namespacesOf({ namespaces: " @team,@other  @third " })).toEqual(["@team", "@other", "@third"]);
});

test.each([
  ["never", undefined],
  [" 2d ", 1000 + 2 * daySeconds],
  ["1y", 1000 + 365 * daySeconds],
  ["2 days", "malformed"],
  ["0d", "malformed"],
])("endOf returns the expiry of a key with the lifetime %j", (expiresIn, end) => {
  expect(endOf({ expiresIn }, 1000.9)).toBe(end);
});

test.each([
  [-60, /^27 Nov 2026$/],
  [25 * 60, /^28 Nov 2026, \d\d:25 \(in 25 min\)$/],
  [3 * 3600, /^28 Nov 2026, \d\d:00 \(in 3 h\)$/],
  [47 * 3600, /^29 Nov 2026, \d\d:00 \(in 47 h\)$/],
  [48 * 3600, /^30 Nov 2026$/],
])("endText returns for an end in %d s a text that matches %s", (seconds, text) => {
  const nowSeconds = new Date(2026, 10, 28).getTime() / 1000;
  expect(endText(nowSeconds + seconds, nowSeconds)).toMatch(text);
});

test.each([
  [undefined, "90d"],
  [1000 + 30.5 * daySeconds, "30d"],
  [1000 + 400 * daySeconds, "90d"],
  [1000 + 60, "90d"],
])("for the creator's expiry %s, usualLifetime returns the lifetime %s", (expiresAt, lifetime) => {
  expect(usualLifetime({ expiresAt }, 1000)).toBe(lifetime);
});

test("mayGrant returns true only for permissions that the principal has", () => {
  const reader = { ...operator, permissions: ["workers:read" as const] };
  expect(mayGrant(reader, ["workers:read"])).toBe(true);
  expect(mayGrant(reader, ["workers:read", "keys:create"])).toBe(false);
});

test.each([
  [undefined, "active"],
  [1000, "expired"],
  [1001, "expires soon"],
  [1000 + 14 * daySeconds, "active"],
])("for the expiry %s, keyState returns at the time 1000 the state %s", (expiresAt, state) => {
  expect(keyState({ expiresAt }, 1000)).toBe(state);
});
