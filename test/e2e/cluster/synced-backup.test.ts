import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../support/connect.js";
import { runInProcess, type InProcessRun } from "../../support/run-in-process.js";
import { runtimectlEnvironment } from "../../support/run-runtimectl.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { startSqld, type Sqld } from "../../support/start-sqld.js";

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
}, 60_000);
