import { expect, test } from "vitest";
import { Output, type Terminal } from "../../../src/cli/output/output.js";

test("the footer of a list wraps at spaces when it is wider than the terminal", () => {
  let written = "";
  const terminal: Terminal = {
    stdinIsTty: true,
    stdoutIsTty: true,
    stderrIsTty: true,
    widthColumns: 80,
    hasColor: false,
    writeStdout: () => {},
    writeStderr: (text) => (written += text),
  };
  new Output(terminal, { format: "automatic" }).footer("15 versions of 9 workers · profile local · 1 built-in worker is not shown (--all)");

  expect(written).toBe("15 versions of 9 workers · profile local · 1 built-in worker is not shown\n(--all)\n");
});
