import { expect, onTestFinished, test } from "vitest";
import { startFakeDaemon } from "../../support/fake-daemon.js";
import { runInProcess } from "../../support/run-in-process.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

test("runtimectl hosts show prints the worker of a host name", async () => {
  const host = { host: "shop.example.org", worker: "@team/shop", createdAt: 1_700_000_000, createdBy: "root" };
  const daemon = await startFakeDaemon({ "/api/hosts/shop.example.org": host });
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key" };

  const { stdout } = await runInProcess(["hosts", "show", "shop.example.org", "--url", daemon.url], { cwd: home, env });

  expect(stdout).toMatch(/^@team\/shop\tactive\t/);
});
