import { expect, onTestFinished, test } from "vitest";
import { startFakeDaemon } from "../../support/fake-daemon.js";
import { runInProcess } from "../../support/run-in-process.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

/** Runs a command against a daemon that is ready and reports these health checks. */
async function run(words: readonly string[], checks: readonly object[] | undefined) {
  const daemon = await startFakeDaemon({ "/api/health/ready": { ok: true, status: "ready", version: "1.2.3", checks } });
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key" };
  return await runInProcess([...words, "--url", daemon.url], { cwd: home, env });
}

const registry = { name: "package-store", status: "degraded", message: "The registry cannot be reached (ECONNREFUSED)." };

test("`doctor` lists the registry, and prints a fix if it cannot be used", async () => {
  expect((await run(["doctor"], [{ name: "package-store", status: "ok" }])).stdout).toMatch(/^ok\tpackage-store\tthe registry responds/m);
  expect((await run(["doctor"], [registry])).stdout).toMatch(/^warn\tpackage-store\tThe registry cannot be reached.*deploy --replace/m);
  expect((await run(["doctor"], [{ name: "key-store", status: "ok" }])).stdout).not.toContain("package-store");
});
