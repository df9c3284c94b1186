import { expect, test } from "vitest";
import { placeColumns, tableWidth, type Column } from "../../../../src/cli/dashboard/components/list.js";

const columns: readonly Column<string>[] = [
  { heading: "NAME", text: (name) => name },
  { heading: "VERSION", width: 12, text: () => "1.0.0" },
  { heading: "STATE", width: 10, text: () => "ok" },
];
const widthsOf = (names: readonly string[], width: number) =>
  placeColumns(columns, names, width).map((placed) => [placed.column.heading, placed.width]);

test("shows all columns in exactly the width of the table", () => {
  const names = ["app", "a-longer-name"];
  expect(tableWidth(columns, names)).toBe(2 + 13 + 2 + 12 + 2 + 10);
  expect(widthsOf(names, 41)).toEqual([
    ["NAME", 13],
    ["VERSION", 12],
    ["STATE", 10],
  ]);
});

test("omits the last column only when the longest name needs its room", () => {
  expect(widthsOf(["app", "a-longer-name"], 40)).toEqual([
    ["NAME", 24],
    ["VERSION", 12],
  ]);
});

test("gives names at most half of the width before a column is omitted", () => {
  expect(widthsOf(["n".repeat(100)], 80)).toEqual([
    ["NAME", 52],
    ["VERSION", 12],
    ["STATE", 10],
  ]);
});

test("counts wide characters and escaped control characters", () => {
  expect(tableWidth(columns, ["日本語店"]) - tableWidth(columns, ["n".repeat(8)])).toBe(0);
  expect(tableWidth(columns, ["\u001b[2J"]) - tableWidth(columns, ["n".repeat(7)])).toBe(0);
});
