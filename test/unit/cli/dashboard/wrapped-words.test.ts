import { expect, test } from "vitest";
import { wrappedWords } from "../../../../src/cli/dashboard/terminal/wrapped.js";

test.each<readonly [string, readonly [text: string, columns: number, mostLines: number], readonly string[]]>([
  ["one line", ["no such order", 20, 4], ["no such order"]],
  ["lines between words", ["no such order in shop", 10, 4], ["no such", "order in", "shop"]],
  ["lines within a long word", ["at https://example.org/a", 10, 4], ["at", "https://ex", "ample.org/", "a"]],
  ["lines at line feeds", ["first\nsecond", 20, 4], ["first", "second"]],
  ["at most two lines", ["no such order in shop", 10, 2], ["no such", "order in…"]],
  ["an ellipsis in place of the last column", ["no such orders in shop today", 9, 2], ["no such", "orders in".slice(0, 8) + "…"]],
  ["escaped control characters", ["\u001b[2J", 20, 4], ["\\x1b[2J"]],
])("the dashboard wraps text into %s", (_what, [text, columns, mostLines], expected) => {
  expect(wrappedWords(text, columns, mostLines)).toEqual(expected);
});
