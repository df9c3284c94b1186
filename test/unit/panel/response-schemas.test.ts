import { describe, expect, test } from "vitest";
import * as zod from "zod";
import * as schemas from "../../../src/cpanel/response-schemas.js";

/** A schema with each kind of type that the contract uses in responses. */
function sampleOf(z: typeof zod) {
  return z.object({
    name: z.string().min(1).describe("a name"),
    count: z.int().min(0),
    share: z.number().nullable(),
    isOn: z.boolean().optional(),
    kind: z.enum(["one", "two"]),
    fixed: z.literal(true),
    list: z.array(z.object({ id: z.int() })),
    byName: z.record(z.string(), z.number()),
    either: z.union([z.string(), z.object({ more: z.unknown() })]),
    later: z.lazy(() => z.string()),
  });
}

const valid = {
  name: "shop",
  count: 3,
  share: null,
  kind: "one",
  fixed: true,
  list: [{ id: 1 }],
  byName: { a: 0.5 },
  either: "text",
  later: "text",
};

const theirs = sampleOf(zod);
const ours = sampleOf(schemas as unknown as typeof zod);
const accepts = (schema: typeof theirs, value: unknown) => {
  const checked = schema["~standard"].validate(value);
  return !(checked instanceof Promise) && checked.issues === undefined;
};

describe("schemas of responses", () => {
  test.each([
    ["a complete value", valid],
    ["an optional value", { ...valid, isOn: false }],
    ["an unknown name", { ...valid, added: "later" }],
    ["the other form of a union", { ...valid, either: { more: [1] } }],
  ])("accept %s in the same way as zod", (_what, value) => {
    expect([accepts(theirs, value), accepts(ours, value)]).toEqual([true, true]);
  });

  test.each([
    ["a missing value", { ...valid, name: undefined }],
    ["a number in place of a string", { ...valid, name: 1 }],
    ["a fraction in place of an integer", { ...valid, count: 1.5 }],
    ["null in place of an optional value", { ...valid, isOn: null }],
    ["a number in place of a word", { ...valid, kind: 3 }],
    ["another literal", { ...valid, fixed: false }],
    ["an object in place of a list", { ...valid, list: {} }],
    ["a wrong item of a list", { ...valid, list: [{ id: "1" }] }],
    ["a wrong value of a record", { ...valid, byName: { a: "b" } }],
    ["no form of a union", { ...valid, either: 1 }],
    ["a list in place of an object", [valid]],
    ["null", null],
  ])("reject %s in the same way as zod", (_what, value) => {
    expect([accepts(theirs, value), accepts(ours, value)]).toEqual([false, false]);
  });

  test("accept an unknown enum value of a newer daemon", () => {
    expect(accepts(ours, { ...valid, kind: "three" })).toBe(true);
  });

  test("report the first value of a wrong type", () => {
    expect(schemas.object({ list: schemas.array(schemas.int()) })["~standard"].validate({ list: [1, "2"] })).toEqual({
      issues: [{ message: "response.list[1] is not an integer" }],
    });
  });
});
