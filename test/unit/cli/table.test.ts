import { describe, expect, test } from "vitest";
import { alignedTable } from "../../../src/cli/output/table.js";

const style = (widthColumns: number) => ({ widthColumns, hasColor: false });
const headings = ["NAME", "STATE", "ERROR"];

describe("alignedTable", () => {
  test("shortens the widest column with an ellipsis when the table is too wide", () => {
    const rows = [
      [`@team/${"long-".repeat(12)}name`, "failed", "no luck"],
      ["shop", "loaded", ""],
    ];
    const lines = alignedTable(headings, rows, style(50)).split("\n");
    expect(lines[1]).toMatch(/^@team\/(?:long-)+.*…  failed  no luck$/);
    expect(lines[2]).toMatch(/^shop +loaded$/);
    expect(Math.max(...lines.map((line) => line.length))).toBe(50);
  });

  test("shortens a long last column, but keeps it in the table", () => {
    const [, line = ""] = alignedTable(headings, [["shop", "failed", "a".repeat(200)]], style(60)).split("\n");
    expect(line).toMatch(/^shop {2}failed {2}a+…$/);
    expect(line).toHaveLength(60);
  });

  test("omits the last columns when no column can be shortened", () => {
    const row = ["shop", "failed", "a".repeat(30)];
    expect(alignedTable(headings, [row], style(20))).toBe("NAME  STATE\nshop  failed");
  });
});
