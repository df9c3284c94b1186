import { expect, test } from "vitest";
import { sanitizeForTerminal, printableJson } from "../../../src/cli/output/sanitize-for-terminal.js";
import { alignedTable, tabSeparated } from "../../../src/cli/output/table.js";

const hostile = "a\x1b[31m\x07\r\n\u009b\u202e\u2066\u200b\u2028\u{e0001}z";

test("runtimectl escapes control characters in text", () => {
  expect(sanitizeForTerminal(hostile)).toBe("a\\x1b[31m\\x07\\x0d\\x0a\\x9b\\u{202e}\\u{2066}\\u{200b}\\u{2028}\\u{e0001}z");
});

test("runtimectl escapes control characters in JSON so that JSON.parse restores them", () => {
  const text = printableJson({ name: hostile });
  expect(JSON.parse(text)).toEqual({ name: hostile });
  expect(text).toMatch(/^[\x20-\x7e]+$/);
});

test("runtimectl escapes a tab in tab-separated output", () => {
  expect(tabSeparated([["a\tb", "c"]])).toBe("a\\x09b\tc");
});

test("runtimectl aligns wide characters in a table, and omits columns that do not fit", () => {
  const rows = [
    ["名前", "1.0.0", "on"],
    ["b", "2", "off"],
  ];
  expect(alignedTable(["NAME", "VERSION", "STATE"], rows, { widthColumns: 80, hasColor: false })).toBe(
    "NAME  VERSION  STATE\n名前  1.0.0    on\nb     2        off",
  );
  expect(alignedTable(["NAME", "VERSION", "STATE"], rows, { widthColumns: 14, hasColor: false })).toBe(
    "NAME  VERSION\n名前  1.0.0\nb     2",
  );
  expect(alignedTable(["NAME", "VERSION", "STATE"], rows, { widthColumns: 3, hasColor: false })).toBe("NA…\n名…\nb");
});
