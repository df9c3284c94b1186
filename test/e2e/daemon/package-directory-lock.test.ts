import { existsSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ProcessLock } from "../../../src/server/platform/process-lock.js";
import { connect } from "../../support/connect.js";
import { runProgram } from "../../support/run-program.js";
import { daemonProgram, startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { treeDigest } from "../../support/tree-digest.js";
import { uploadWorker } from "../../support/upload-worker.js";

async function start(directory?: string): Promise<TestDaemon> {
  const daemon = await startDaemon(directory === undefined ? {} : { directory });
  onTestFinished(() => daemon.dispose());
  return daemon;
}

/** Runs a daemon that must not start. `directory` contains its package directories. */
async function runRejected(directory: string, env: Record<string, string> = {}) {
  const state = await temporaryDirectory();
  return await runProgram([daemonProgram], {
    cwd: state,
    env: {
      HOST: "127.0.0.1",
      PORT: "0",
      RUNTIME_ROOT_KEY: "root-key-of-a-test",
      RUNTIME_STATE_DIR: state,
      RUNTIME_WORKER_DIRS: path.join(directory, "workers"),
      RUNTIME_PLUGIN_DIRS: path.join(directory, "plugins"),
      ...env,
    },
  });
}

const upload = ({ url, rootKey }: TestDaemon, text: string) => uploadWorker(connect(url, rootKey), "app", { "index.html": text });

/** Writes the files of a daemon of the previous version. */
async function writeSharingFiles(directory: string): Promise<{ folder: string; mark: string }> {
  const folder = path.join(directory, "workers", ".instances");
  await mkdir(folder, { recursive: true });
  const mark = path.join(folder, "0123456789abcdef.instance");
  for (const file of [path.join(folder, "lock"), mark]) await writeFile(file, "");
  await writeFile(path.join(folder, "changes"), '{"log":"x","number":1}\n');
  return { folder, mark };
}

test("a second daemon with the same package directories exits with 78", async () => {
  const first = await start();
  await upload(first, "first");
  const digest = await treeDigest(path.join(first.directory, "workers"));

  const second = await runRejected(first.directory);

  expect(second).toMatchObject({ code: 78, stderr: expect.stringContaining("runtimectl daemon migrate-packages") });
  expect(await treeDigest(path.join(first.directory, "workers"))).toBe(digest);
  await upload(first, "replaced");
  expect(await (await fetch(`${first.url}/app/`)).text()).toBe("replaced");
  await first.kill();
  const next = await start(first.directory);
  expect(await (await fetch(`${next.url}/app/`)).text()).toBe("replaced");
});

test("a daemon deletes files of an earlier version, and fails while that version runs", async () => {
  const directory = await temporaryDirectory();
  const { folder, mark } = await writeSharingFiles(directory);
  const earlier = ProcessLock.take(mark);

  expect(await runRejected(directory)).toMatchObject({ code: 78, stderr: expect.stringContaining("migrate-packages") });
  expect((await readdir(folder)).toSorted()).toEqual(["0123456789abcdef.instance", "changes", "lock"]);

  earlier?.release();
  const daemon = await start(directory);
  expect(await readdir(folder)).toEqual(["lock"]);
  // A daemon of the previous version takes this lock for each change, so it cannot change the directory.
  expect(ProcessLock.isHeld(path.join(folder, "lock"))).toBe(true);
  await daemon.stop();
  expect(ProcessLock.isHeld(path.join(folder, "lock"))).toBe(false);
});

test("a daemon with a primary requires a migration of formerly shared directories", async () => {
  const directory = await temporaryDirectory();
  const { folder } = await writeSharingFiles(directory);

  const rejected = await runRejected(directory, { RUNTIME_AUTH_DB_MODE: "sync", RUNTIME_AUTH_DB_SYNC_URL: "http://127.0.0.1:9" });

  expect(rejected).toMatchObject({ code: 78, stderr: expect.stringContaining("runtimectl daemon migrate-packages") });
  expect(existsSync(path.join(folder, "changes"))).toBe(true);
});

test("a daemon locks a package directory again after its lock file was deleted", async () => {
  const daemon = await start();
  const lock = path.join(daemon.directory, "workers", ".instances", "lock");
  await rm(path.dirname(lock), { recursive: true });

  await upload(daemon, "again");

  expect(ProcessLock.isHeld(lock)).toBe(true);
  expect(await (await fetch(`${daemon.url}/app/`)).text()).toBe("again");
});
