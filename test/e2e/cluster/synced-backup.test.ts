import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../support/connect.js";
import { runInProcess, type InProcessRun } from "../../support/run-in-process.js";
import { runtimectlEnvironment } from "../../support/run-runtimectl.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { startSqld, type Sqld } from "../../support/start-sqld.js";
import { askStorage, storageWorker } from "../../support/storage-worker.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { treeDigest } from "../../support/tree-digest.js";
import { uploadWorker } from "../../support/upload-worker.js";

async function startPrimary(): Promise<Sqld> {
  const sqld = await startSqld();
  onTestFinished(sqld.dispose);
  return sqld;
}

async function start(options: Parameters<typeof startDaemon>[0] = {}): Promise<TestDaemon> {
  const daemon = await startDaemon(options);
  onTestFinished(() => daemon.dispose());
  return daemon;
}

const syncTo = ({ url }: Sqld) => ({ RUNTIME_AUTH_DB_MODE: "sync", RUNTIME_AUTH_DB_SYNC_URL: url, RUNTIME_AUTH_DB_SYNC_INTERVAL: "100ms" });

async function createKeys({ url, rootKey }: TestDaemon, ...names: string[]): Promise<void> {
  for (const name of names) await connect(url, rootKey).keys.create({ body: { name, role: "viewer" } });
}

/** Runs `runtimectl daemon backup|restore FILE` on the directories of a daemon. */
function run(daemon: TestDaemon, words: readonly string[], variables: Record<string, string> = {}): Promise<InProcessRun> {
  const at = (name: string) => path.join(daemon.directory, name);
  const places = ["--state-dir", at("state"), "--worker-dirs", at("workers"), "--plugin-dirs", at("plugins")];
  const env = { ...runtimectlEnvironment(daemon), ...variables };
  return runInProcess(["daemon", ...words, ...places], { env, cwd: daemon.directory });
}

async function keysInBackup(daemon: TestDaemon): Promise<number> {
  const { status, stdout, stderr } = await run(daemon, ["backup", "b.tgz", "--json"]);
  expect(status, stderr).toBe(0);
  return (JSON.parse(stdout) as { keys: number }).keys;
}

test("`daemon backup` reads the key store that the daemon used last", async () => {
  const sqld = await startPrimary();
  const local = await start();
  const { directory } = local;
  await createKeys(local, "one", "two");
  await local.stop();

  const synced = await start({ directory, env: syncTo(sqld) });
  expect(await keysInBackup(synced)).toBe(0);
  await createKeys(synced, "shared");
  await expect.poll(() => keysInBackup(synced)).toBe(1);
  await synced.stop();
  expect(await keysInBackup(synced)).toBe(1);

  const again = await start({ directory });
  expect(await keysInBackup(again)).toBe(2);
}, 90_000);

test("`daemon restore` of a daemon with a primary restores only data folders", async () => {
  const sqld = await startPrimary();
  const env = syncTo(sqld);
  const daemon = await start({ env });
  const at = (name: string) => path.join(daemon.directory, name);
  const files = { "index.js": storageWorker, "package.json": '{"type":"module"}' };
  await uploadWorker(connect(daemon.url, daemon.rootKey), "store", files, "data: 100mb\n");
  await askStorage(`${daemon.url}/store/`, "write", { name: "file", text: "backed up" });
  expect(await keysInBackup(daemon)).toBe(0);
  await askStorage(`${daemon.url}/store/`, "write", { name: "file", text: "changed" });
  await createKeys(daemon, "later");
  await uploadWorker(connect(daemon.url, daemon.rootKey), "later", files, "");
  await daemon.stop();
  const before = await treeDigest(daemon.directory);

  for (const words of [["--yes"], ["--dry-run"]]) {
    const refused = await run(daemon, ["restore", "b.tgz", ...words, "--json"]);
    expect(refused.status).toBe(7);
    expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: "PRIMARY_HAS_KEYS", hint: expect.stringContaining("--data-only") } });
  }
  const dryRun = await run(daemon, ["restore", "b.tgz", "--data-only", "--dry-run", "--json"]);
  expect(JSON.parse(dryRun.stdout)).toMatchObject({
    dataOnly: true,
    packages: [{ kind: "data", path: "store", change: "replace" }],
  });
  expect(await treeDigest(daemon.directory)).toBe(before);

  const restored = await run(daemon, ["restore", "b.tgz", "--data-only", "--yes"]);
  expect(restored.status, restored.stderr).toBe(0);
  expect(restored.stdout).toContain("keys, workers and plugins stay unchanged");
  expect(await readFile(at("data/store/file"), "utf8")).toBe("backed up");
  expect((await readdir(at("workers"))).filter((name) => !name.startsWith("."))).toEqual(["later", "store"]);
  expect((await readdir(at("state"))).filter((name) => name.startsWith("keys.db"))).toEqual([]);
  const again = await start({ directory: daemon.directory, env });
  expect((await connect(again.url, again.rootKey).keys.list()).keys.map(({ name }) => name)).toEqual(["later"]);
  expect(await askStorage(`${again.url}/store/`, "read", { name: "file" })).toEqual({ result: "backed up" });
}, 90_000);

test("`daemon restore` into an empty folder fails if a primary is configured", async () => {
  const daemon = await start();
  expect(await keysInBackup(daemon)).toBe(0);
  await daemon.stop();
  const empty = { ...daemon, directory: await temporaryDirectory() };
  const words = ["restore", path.join(daemon.directory, "b.tgz"), "--yes"];

  const refused = await run(empty, words, { RUNTIME_AUTH_DB_MODE: "sync" });
  expect(refused).toMatchObject({ status: 7, stderr: expect.stringContaining("RUNTIME_AUTH_DB_MODE=sync") });
  expect(await readdir(empty.directory)).toEqual([]);
  expect(await run(empty, words)).toMatchObject({ status: 0 });
});
