import { describe, expect, onTestFinished, test } from "vitest";
import { pagesIn, runPage } from "../../support/documented-commands.js";
import { startDaemon } from "../../support/start-daemon.js";

describe("the commands in a documentation page", async () => {
  const pages = ["README.md", ...(await pagesIn("docs/tutorials"))];

  test.each(pages)("succeed in the order of the page, and print the documented output (page %s)", async (page) => {
    const daemon = await startDaemon();
    onTestFinished(() => daemon.dispose());

    const { outputs } = await runPage(page, daemon);

    for (const { command, output } of outputs) for (const text of command.expected) expect(output, command.text).toContain(text);
  });
});
