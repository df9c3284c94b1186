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

const unreachable = { name: "key-store", status: "degraded", message: "the primary of the key store cannot be reached (ECONNREFUSED)" };
const registry = { name: "package-store", status: "degraded", message: "The registry cannot be reached (ECONNREFUSED)." };
const isolation = { name: "isolation:own-user", status: "degraded", message: "the daemon does not run as root" };

const documentOf = async (checks?: readonly object[]) =>
  JSON.parse((await run(["status", "--json"], checks)).stdout) as Record<string, unknown>;

test("`status` prints why a ready daemon is degraded, and exits with 0", async () => {
  const { status, stdout } = await run(["status"], [unreachable, registry, isolation]);

  expect(status).toBe(0);
  expect(stdout).toMatch(/^health +ready$/m);
  expect(stdout).toMatch(/^degraded +key-store: the primary of the key store cannot be reached \(ECONNREFUSED\)$/m);
  expect(stdout).toMatch(/^degraded +package-store: The registry cannot be reached \(ECONNREFUSED\)\.$/m);
  expect(stdout).not.toContain("isolation");
});

test("`status --json` has the problems of a ready daemon, or null if the key cannot read them", async () => {
  expect(await documentOf([unreachable])).toMatchObject({
    ready: true,
    readiness: "ready",
    problems: [{ check: "key-store", reason: unreachable.message }],
  });
  expect(await documentOf([{ name: "key-store", status: "ok" }])).toMatchObject({ problems: [] });
  expect(await documentOf()).toMatchObject({ problems: null });
});

test("`doctor` lists the registry, and prints a fix if it cannot be used", async () => {
  expect((await run(["doctor"], [{ name: "package-store", status: "ok" }])).stdout).toMatch(/^ok\tpackage-store\tthe registry responds/m);
  expect((await run(["doctor"], [registry])).stdout).toMatch(/^warn\tpackage-store\tThe registry cannot be reached.*deploy --replace/m);
  expect((await run(["doctor"], [{ name: "key-store", status: "ok" }])).stdout).not.toContain("package-store");
});
