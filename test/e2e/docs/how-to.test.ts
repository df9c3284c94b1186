import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { pagesIn, runPage, type RunOptions } from "../../support/documented-commands.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

/** Pages whose commands need more than a daemon and an empty folder. */
const options: Readonly<Record<string, RunOptions>> = {
  "docs/how-to/install.md": {
    replace: (_folder, { rootKey }) => ({ "openssl rand -base64 32": `echo '${rootKey}'` }),
  },
};

let daemon: TestDaemon;

beforeEach(async () => {
  daemon = await startDaemon();
});

afterEach(() => daemon.dispose());

describe("documented commands", async () => {
  const pages = await pagesIn("docs/how-to");

  test.each(pages)("%s succeeds in the order shown, with the documented output", { timeout: 180_000 }, async (page) => {
    const { outputs } = await runPage(page, daemon, options[page]);

    for (const { command, output } of outputs) for (const text of command.expected) expect(output, command.text).toContain(text);
  });
});
