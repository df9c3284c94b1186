import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";

const app = `export default { fetch(request) { console.log("called for " + request.headers.get("x-cron")); return new Response("done"); } };`;
const everySecond = `cron:\n  - schedule: "* * * * * *"\n    endpoint: /tick\n`;
const called = "called for * * * * * *";

/** Starts a daemon whose workers receive no client request. Tests only call the API. */
async function startQuiet(manifest: string, env: Record<string, string> = {}): Promise<TestDaemon> {
  const directory = await mkdtemp(path.join(tmpdir(), "runtimed-test-"));
  await writeTree(path.join(directory, "workers"), {
    "job/manifest.yaml": `name: job\nversion: 1.0.0\n${everySecond}${manifest}`,
    "job/index.js": app,
  });
  const daemon = await startDaemon({ directory, env });
  onTestFinished(daemon.dispose);
  return daemon;
}

const logOf = async ({ url, rootKey }: TestDaemon, name = "job") =>
  (await fetch(`${url}/api/workers/_/${name}/logs`, { headers: { "x-api-key": rootKey } })).text();
const callsIn = (log: string) => log.split(called).length - 1;

test("a cron job runs on a daemon that has received no request", async () => {
  const daemon = await startQuiet("");
  await expect.poll(() => logOf(daemon)).toContain(called);
  expect(await logOf(daemon)).not.toContain("returned status 4");
});

test("a cron job runs again after its idle isolate was stopped for another worker", async () => {
  const daemon = await startQuiet("idleTimeout: 1s\nttl: 2s\n", { RUNTIME_POOL_SIZE: "1" });
  await expect.poll(async () => callsIn(await logOf(daemon))).toBeGreaterThan(0);
  const file = uploadOf("other.tgz", await packFiles({ "manifest.yaml": "name: other\n", "index.js": app }));
  await connect(daemon.url, daemon.rootKey).workers.upload({ file });
  // The pool has one place, which this worker takes from the worker of the job.
  await expect.poll(async () => (await fetch(`${daemon.url}/other/`)).status).toBe(200);
  const before = callsIn(await logOf(daemon));
  await expect.poll(async () => callsIn(await logOf(daemon))).toBeGreaterThan(before);
});

test("a cron job runs after a restart of the worker and of the daemon", async () => {
  const daemon = await startQuiet("");
  await expect.poll(() => logOf(daemon)).toContain(called);
  await connect(daemon.url, daemon.rootKey).workers.restart({ params: { scope: "_", name: "job", version: "1.0.0" } });
  const before = callsIn(await logOf(daemon));
  await expect.poll(async () => callsIn(await logOf(daemon))).toBeGreaterThan(before);
  await daemon.stop();
  const again = await startDaemon({ directory: daemon.directory });
  onTestFinished(() => again.kill());
  await expect.poll(() => logOf(again)).toContain(called);
});

test("a cron job runs repeatedly when the worker has ttl: 0", async () => {
  const daemon = await startQuiet("ttl: 0\n");
  await expect.poll(async () => callsIn(await logOf(daemon))).toBeGreaterThan(1);
});

test("the cron jobs of a disabled version stop, and the log records that they stopped", async () => {
  const daemon = await startQuiet("");
  const { workers } = connect(daemon.url, daemon.rootKey);
  const params = { scope: "_", name: "job", version: "1.0.0" };
  await expect.poll(() => logOf(daemon)).toContain(called);
  await workers.disable({ params });
  await expect.poll(() => logOf(daemon)).toContain("Cron jobs stopped: job has no active version.");
  const before = callsIn(await logOf(daemon));
  await new Promise((resolve) => setTimeout(resolve, 2500));
  expect(callsIn(await logOf(daemon))).toBeLessThanOrEqual(before);
  await workers.enable({ params });
  await expect.poll(async () => callsIn(await logOf(daemon))).toBeGreaterThan(before);
});
