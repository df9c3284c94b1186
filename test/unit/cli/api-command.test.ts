import { expect, onTestFinished, test } from "vitest";
import { runInProcess } from "../../support/run-in-process.js";
import { startFakeDaemon } from "../../support/fake-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

test("runtimectl api prints a line feed after a JSON response when stdout is a pipe", async () => {
  const daemon = await startFakeDaemon();
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key" };

  const { stdout } = await runInProcess(["api", "GET", "workers", "--url", daemon.url], { cwd: home, env });

  expect(stdout).toBe("[]\n");
});
