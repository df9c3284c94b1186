import { expect, test } from "vitest";
import type { LogLine } from "../../../../src/cli/dashboard/logs/log-line.js";
import { mostLines, newestLines } from "../../../../src/cli/dashboard/logs/log-follower.js";

const line = (id: number, text = "a line"): LogLine => ({
  key: String(id),
  id,
  worker: "app",
  entry: { time: id, level: "info", version: "1.0.0", source: "app" },
  isFirst: true,
  text,
});

test("the dashboard keeps the newest lines up to the maximum number of lines", () => {
  const kept = newestLines(Array.from({ length: mostLines + 10 }, (_, id) => line(id)));
  expect(kept).toHaveLength(mostLines);
  expect(kept[0]?.id).toBe(10);
  expect(kept.at(-1)?.id).toBe(mostLines + 9);
});

test("the dashboard keeps fewer lines than the maximum when the lines are long", () => {
  const kept = newestLines(Array.from({ length: 100 }, (_, id) => line(id, "x".repeat(100_000))));
  expect(kept).toHaveLength(20);
  expect(kept.at(-1)?.id).toBe(99);
});
