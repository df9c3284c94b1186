import { describe, expect, test } from "vitest";
import { kindOf, newItem, textOfValue, valueOfText, withProperty } from "../../../src/cpanel/components/schema-form/schema-kind.js";
import { fieldGroups, schemaOfField } from "../../../src/cpanel/pages/apps/configuration/field-schemas.js";
import { durationText } from "../../../src/cpanel/pages/apps/schedules/duration-text.js";
import { describeFault, faultOf, faultsOf } from "../../../src/cpanel/pages/configuration/config-faults.js";
import { valueText } from "../../../src/cpanel/pages/configuration/value-text.js";
import { ApiError } from "../../../src/shared/api-error.js";
import { WorkerManifest } from "../../../src/shared/worker-manifest.js";

test("the panel has a form for each field of a worker manifest except `env`", () => {
  const fields = fieldGroups.flatMap(({ fields: group }) => Object.keys(group));
  const expected = Object.keys(WorkerManifest.shape).filter((name) => name !== "env");
  expect(fields.toSorted()).toEqual(expected.toSorted());
  expect(schemaOfField("unknown")).toEqual({});
});

describe("kindOf", () => {
  test("selects the form by the types in the schema of a field", () => {
    expect(kindOf({ type: ["string", "number"] })).toBe("text");
    expect(kindOf({ type: "boolean" })).toBe("boolean");
    expect(kindOf({ type: ["string", "boolean"] })).toBe("text");
    expect(kindOf({ enum: ["a", false] })).toBe("choice");
    expect(kindOf({ type: "array", items: { type: "string" } })).toBe("list");
    expect(kindOf({ type: "array", items: { type: "object", properties: {} } })).toBe("list");
    expect(kindOf({ type: ["boolean", "object"], properties: {} })).toBe("switch");
    expect(kindOf({ type: "object", properties: {} })).toBe("group");
  });

  test("selects YAML as the form of values with any other schema", () => {
    const schemas = [{}, { type: "object" }, { type: "array" }, { type: ["string", "array"] }, { type: "array", items: {} }] as const;
    for (const schema of schemas) expect(kindOf(schema)).toBe("yaml");
  });
});

test("the form parses numbers only for numeric types; the daemon checks other values", () => {
  expect(valueOfText("12", { type: "integer" })).toBe(12);
  expect(valueOfText("auto", { type: ["integer", "string"] })).toBe("auto");
  expect(valueOfText("12", { type: "string" })).toBe("12");
  expect(valueOfText("false", { type: ["string", "boolean"] })).toBe(false);
  expect(valueOfText("", { type: "string" })).toBeUndefined();
  expect([textOfValue(null), textOfValue(0), textOfValue({ a: 1 })]).toEqual(["", "0", '{"a":1}']);
});

test("the form changes and removes one property of a map", () => {
  expect(withProperty({ a: 1 }, "b", 2)).toEqual({ a: 1, b: 2 });
  expect(withProperty({ a: 1, b: 2 }, "b", undefined)).toEqual({ a: 1 });
  expect(withProperty(undefined, "a", 1)).toEqual({ a: 1 });
  expect([newItem({ type: "string" }), newItem({ type: "object", properties: {} })]).toEqual(["", {}]);
});

test("the form assigns the errors of a rejected change to the fields", () => {
  const fields = [
    { name: "memory", message: "is not a size", line: 4 },
    { name: "memory", message: "is too large" },
  ];
  const faults = faultsOf(new ApiError("INVALID_PACKAGE_METADATA", "No.", { details: { fields } }));
  expect(faultOf(faults, "memory")).toBe("is not a size; is too large");
  expect(faultOf(faults, "timeout")).toBeUndefined();
  expect(faults.map((fault) => describeFault(fault))).toEqual(["line 4, memory: is not a size", "memory: is too large"]);
  expect(faultsOf(new ApiError("PRECONDITION_FAILED", "No.", { details: { fields } }))).toEqual([]);
  expect(faultsOf(new ApiError("INVALID_PACKAGE_METADATA", "No.", { details: { fields: "x" } }))).toEqual([]);
});

test("the panel formats manifest values and durations as text", () => {
  expect([null, "", [], {}, ["a", "b"], { a: 1, b: [] }, [{ a: 1 }, { b: true }], 0].map((value) => valueText(value))).toEqual([
    "–",
    "–",
    "none",
    "none",
    "a, b",
    "a: 1, b: none",
    "a: 1\nb: true",
    "0",
  ]);
  expect([null, 12, 1500, 125_000].map((value) => durationText(value))).toEqual(["–", "12 ms", "1.5 s", "2 min 5 s"]);
});
