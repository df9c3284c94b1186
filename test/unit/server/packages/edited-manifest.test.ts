import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { withField, withFields } from "../../../../src/server/packages/configuration/edited-manifest.js";

const edit = (text: string, changes: Record<string, unknown>) => withFields(text, "manifest.yaml", changes);

describe("the text of a manifest", () => {
  test.each<[name: string, text: string, changes: Record<string, unknown>, expected: string]>([
    ["replaces a scalar", "a: 1 # one\nb: 'x'\n", { a: 2 }, "a: 2 # one\nb: 'x'\n"],
    ["keeps line ends", "a: 1\r\nb: 2\r\n", { b: 3, c: 4 }, "a: 1\r\nb: 3\r\nc: 4\r\n"],
    ["adds a field to an empty text", "", { a: "5s" }, "a: 5s\n"],
    ["adds a field after a last line without end", "# only\na: 1", { b: [1] }, "# only\na: 1\nb:\n  - 1\n"],
    ["removes a line", "a: 1\nb: 2 # two\nc: 3\n", { b: null }, "a: 1\nc: 3\n"],
    ["ignores the removal of a missing field", "a: 1\n", { z: null }, "a: 1\n"],
    ["quotes a text that YAML reads as a number", "a: text\n", { a: "1.0" }, 'a: "1.0"\n'],
    ["keeps comments in a map", "env:\n  # first\n  A: 1\n  B: 2\n", { env: { A: 9, C: 3 } }, "env:\n  # first\n  A: 9\n  C: 3\n"],
    ["keeps the form of a flow map", "{a: 1, b: 2}\n", { b: 3 }, "{a: 1, b: 3}\n"],
    ["replaces a block text", "a: |\n  long\n  text\nb: 1\n", { a: "short" }, "a: |-\n  short\nb: 1\n"],
  ])("has the expected form after an edit that %s", (_name, text, changes, expected) => {
    expect(edit(text, changes)).toBe(expected);
  });

  test("contains a new map when an edit sets a value below a missing map", () => {
    expect(parse(withField("name: x\n", "manifest.yaml", ["config", "timeout"], "5s"))).toEqual({ name: "x", config: { timeout: "5s" } });
  });

  test("cannot be edited at an anchor that another field uses", () => {
    expect(() => edit("a: &x [1]\nb: *x\n", { a: 2 })).toThrow(expect.objectContaining({ code: "INVALID_PACKAGE_METADATA" }));
  });
});
