import { expect, test } from "vitest";
import { fitted } from "../../../../src/cli/dashboard/terminal/fitted.js";

test.each([
  ["abc", 5, "abc  "],
  ["abc", 3, "abc"],
  ["abcdef", 4, "abc…"],
  ["漢字", 5, "漢字 "],
  ["漢字漢字", 4, "漢… "],
  ["👩 x", 5, "👩 x "],
  ["", 2, "  "],
  ["abc", 0, ""],
])("fitted pads or shortens the text %j to %d columns (result: %j)", (text, columns, expected) => {
  expect(fitted(text, columns)).toBe(expected);
});

test("fitted escapes control characters before it measures the width of the text", () => {
  expect(fitted("a\u001b[31mb", 12)).toBe("a\\x1b[31mb  ");
  expect(fitted("a\u001b[31mb", 6)).toBe("a\\x1b…");
});
