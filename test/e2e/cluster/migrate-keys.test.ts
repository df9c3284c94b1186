import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { Primary } from "../../../src/server/access/replica/primary-client.js";
import { connect } from "../../support/connect.js";
import { runInProcess } from "../../support/run-in-process.js";
import { runRuntimectl, runtimectlEnvironment } from "../../support/run-runtimectl.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { startSqld, type Sqld } from "../../support/start-sqld.js";

async function primary(): Promise<Sqld> {
  const sqld = await startSqld();
  onTestFinished(sqld.dispose);
  return sqld;
}

const clientOf = ({ url, rootKey }: TestDaemon) => connect(url, rootKey);
const syncTo = ({ url }: Sqld) => ({ RUNTIME_AUTH_DB_MODE: "sync", RUNTIME_AUTH_DB_SYNC_URL: url });
const takes = async ({ url }: TestDaemon, key: string) =>
  (await fetch(`${url}/api/workers`, { headers: { "X-API-Key": key } })).status === 200;

test("`daemon migrate-keys` copies all keys to an empty primary", async () => {
  const sqld = await primary();
  const local = await startDaemon();
  onTestFinished(local.dispose);
  const make = async (name: string) => (await clientOf(local).keys.create({ body: { name, role: "viewer", expiresIn: "1d" } })).data;
  const [kept, revoked] = [await make("kept"), await make("revoked")];
  await clientOf(local).keys.revoke({ params: { id: String(revoked.id) } });
  const { data: host } = await clientOf(local).hosts.add({ params: { host: "shop.test" }, body: { worker: "shop" } });
  await clientOf(local).instances.drain({ params: { instance: "local" } });
  // This daemon stores the records about its run in the primary.
  const earlier = await startDaemon({ env: syncTo(sqld) });
  onTestFinished(earlier.dispose);
  await expect.poll(() => instanceRows(sqld)).toBe(1);
  await earlier.stop();
  const before = (await clientOf(local).keys.list()).keys;
  const stateDirectory = path.join(local.directory, "state");
  const migrate = (...args: string[]) =>
    runRuntimectl(local, ["daemon", "migrate-keys", "--state-dir", stateDirectory, "--primary", sqld.url, "--yes", "--json", ...args]);

  expect(await migrate()).toMatchObject({ status: 7, stderr: expect.stringContaining("a runtimed uses") });
  await local.stop();
  const dryRun = await migrate("--dry-run");
  expect(JSON.parse(dryRun.stdout)).toMatchObject({ dryRun: true, keys: 1, revoked: 1, primary: sqld.url });
  expect(existsSync(path.join(stateDirectory, "keys.db"))).toBe(true);

  const { status, stdout } = await migrate();

  expect(status).toBe(0);
  const { keptAs } = JSON.parse(stdout) as { keptAs: string };
  expect(existsSync(keptAs)).toBe(true);
  expect(await migrate()).toMatchObject({ status: 6, stderr: expect.stringContaining("there is no local key store") });
  const early = await runRuntimectl(local, ["daemon", "backup", "b.tgz", ...directoriesOf(local)]);
  expect(early).toMatchObject({ status: 6, stderr: expect.stringContaining("there is no replica of the primary") });
  const first = await startDaemon({ directory: local.directory, env: syncTo(sqld) });
  onTestFinished(first.dispose);
  const second = await startDaemon({ env: syncTo(sqld) });
  onTestFinished(second.dispose);
  for (const daemon of [first, second]) {
    expect((await clientOf(daemon).keys.list()).keys).toEqual(before);
    expect((await clientOf(daemon).hosts.list()).hosts).toEqual([host]);
    expect(await takes(daemon, kept.key)).toBe(true);
    expect(await takes(daemon, revoked.key)).toBe(false);
  }
  expect((await clientOf(second).keys.create({ body: { name: "next", role: "viewer" } })).data.id).toBe(revoked.id + 1);

  // A backup of one daemon contains the keys as a local store, which can be moved to another primary.
  const backup = path.join(second.directory, "backup.tgz");
  await expect
    .poll(async () => {
      const taken = await runRuntimectl(second, ["daemon", "backup", backup, ...directoriesOf(second), "--json"]);
      return (JSON.parse(taken.stdout) as { keys: number }).keys;
    })
    .toBe(2);
  await second.stop();
  const env = { ...runtimectlEnvironment(second), RUNTIME_AUTH_DB_MODE: "local" };
  const restored = await runInProcess(["daemon", "restore", backup, ...directoriesOf(second), "--yes"], { env, cwd: second.directory });
  expect(restored.status, restored.stderr).toBe(0);
  const database = new Database(path.join(second.directory, "state/keys.db"), { readonly: true });
  expect(database.prepare("SELECT kind FROM records").pluck().all()).toEqual(["host"]);
  database.close();
  const alone = await startDaemon({ directory: second.directory });
  onTestFinished(alone.dispose);
  expect(await takes(alone, kept.key)).toBe(true);
  expect(await takes(alone, revoked.key)).toBe(false);
  expect(await clientOf(alone).instances.list()).toMatchObject([{ isSelf: true }]);
}, 90_000);

test("`daemon migrate-keys` changes nothing if the primary has keys or is unreachable", async () => {
  const sqld = await primary();
  const owner = await startDaemon({ env: syncTo(sqld) });
  onTestFinished(owner.dispose);
  const { data } = await clientOf(owner).keys.create({ body: { name: "first here", role: "viewer" } });
  const local = await startDaemon();
  onTestFinished(local.dispose);
  await clientOf(local).keys.create({ body: { name: "too late", role: "viewer" } });
  await local.stop();
  const stateDirectory = path.join(local.directory, "state");
  const before = await readdir(stateDirectory);
  const migrate = () => runRuntimectl(local, ["daemon", "migrate-keys", "--state-dir", stateDirectory, "--primary", sqld.url, "--yes"]);

  expect(await migrate()).toMatchObject({ status: 7, stderr: expect.stringContaining("the primary already contains keys") });
  await sqld.kill();
  expect(await migrate()).toMatchObject({ status: 8, stderr: expect.stringContaining("cannot be reached") });
  expect(await runRuntimectl(local, ["daemon", "migrate-keys", "--state-dir", stateDirectory, "--yes"])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("RUNTIME_AUTH_DB_SYNC_URL"),
  });

  expect((await readdir(stateDirectory)).filter((name) => name.endsWith(".db"))).toEqual(before.filter((name) => name.endsWith(".db")));
  await sqld.restart();
  expect((await clientOf(owner).keys.list()).keys.map(({ id }) => id)).toEqual([data.id]);
  const again = await startDaemon({ directory: local.directory });
  onTestFinished(again.dispose);
  expect((await clientOf(again).keys.list()).keys.map(({ name }) => name)).toEqual(["too late"]);
}, 90_000);

/** Returns the number of daemons that have stored their row in a primary. */
async function instanceRows({ url }: Sqld): Promise<number> {
  const reader = await Primary.at({ url, token: undefined });
  try {
    const [rows] = await reader.read({ sql: "SELECT count(*) AS rows FROM records WHERE kind = 'instance'", values: [] });
    return Number(rows?.[0]?.["rows"]);
  } finally {
    await reader.close();
  }
}

function directoriesOf({ directory }: TestDaemon): string[] {
  return ["state", "worker", "plugin"].flatMap((kind) => [
    kind === "state" ? "--state-dir" : `--${kind}-dirs`,
    path.join(directory, kind === "state" ? kind : `${kind}s`),
  ]);
}
