import { expect, test } from "vitest";
import { placeColumns, tableWidth, type Column } from "../../../../src/cli/dashboard/components/list.js";

const columns: readonly Column<string>[] = [
  { heading: "NAME", text: (name) => name },
  { heading: "VERSION", width: 12, text: () => "1.0.0" },
  { heading: "STATE", width: 10, text: () => "ok" },
];
const widthsOf = (names: readonly string[], width: number) =>
  placeColumns(columns, names, width).map((placed) => [placed.column.heading, placed.width]);

test("a dashboard list shows all columns if they exactly fit the available width", () => {
  const names = ["app", "a-longer-name"];
  expect(tableWidth(columns, names)).toBe(2 + 13 + 2 + 12 + 2 + 10);
  expect(widthsOf(names, 41)).toEqual([
    ["NAME", 13],
    ["VERSION", 12],
    ["STATE", 10],
  ]);
});

test("a dashboard list omits the last column if the full names leave too little room", () => {
  expect(widthsOf(["app", "a-longer-name"], 40)).toEqual([
    ["NAME", 24],
    ["VERSION", 12],
  ]);
});

test("a dashboard list shortens names above half of its width, and keeps all columns", () => {
  expect(widthsOf(["n".repeat(100)], 80)).toEqual([
    ["NAME", 52],
    ["VERSION", 12],
    ["STATE", 10],
  ]);
});

test("the width of a dashboard list includes wide and escaped control characters", () => {
  expect(tableWidth(columns, ["日本語店"]) - tableWidth(columns, ["n".repeat(8)])).toBe(0);
  expect(tableWidth(columns, ["\u001b[2J"]) - tableWidth(columns, ["n".repeat(7)])).toBe(0);
});
