import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { TerminalPainter } from "../../../../src/cli/dashboard/terminal/terminal-painter.js";

test("TerminalPainter draws a line as wide as the terminal without erasing a character", () => {
  let written = "";
  const terminal = Object.assign(new EventEmitter(), { columns: 10, rows: 2, write: (text: string) => (written += text) !== "" });
  const painter = new TerminalPainter(terminal);
  painter.resume();
  painter.write("2026-11-24\nshort");

  // After a character in the last column, the cursor stays there until the next character. Clearing to the end of the line would delete the 4.
  expect(written).toContain("\x1b[1;1H\x1b[K2026-11-24\x1b[2;1H\x1b[Kshort");
});
