import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { connect } from "../../support/connect.js";
import type { InProcessRun } from "../../support/run-in-process.js";
import { runRuntimectl } from "../../support/run-runtimectl.js";
import { daemonUsers, startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { askStorage, storageWorker } from "../../support/storage-worker.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { uploadWorker } from "../../support/upload-worker.js";

const rounds = 5;
const backupProgram = fileURLToPath(new URL("../../../dist/server/backup/main.js", import.meta.url));

function run(directory: string, words: readonly string[]): Promise<InProcessRun> {
  const places = ["--state-dir", "state", "--worker-dirs", "workers", "--plugin-dirs", "plugins"].map((word) =>
    word.startsWith("--") ? word : path.join(directory, word),
  );
  return runRuntimectl({ url: "http://127.0.0.1:9", rootKey: "", directory }, ["daemon", ...words, ...places]);
}

async function start(options: Parameters<typeof startDaemon>[0] = {}): Promise<TestDaemon> {
  const daemon = await startDaemon(options);
  onTestFinished(() => daemon.dispose());
  return daemon;
}

async function addStore(daemon: TestDaemon): Promise<string> {
  const files = { "index.js": storageWorker, "package.json": '{"type":"module"}' };
  await uploadWorker(connect(daemon.url, daemon.rootKey), "store", files, "data: 100mb\n");
  return `${daemon.url}/store/`;
}

async function hiddenEntriesOf(directory: string): Promise<string[]> {
  return (await readdir(path.join(directory, "data"))).filter((name) => name.startsWith(".copy-"));
}

describe.each(daemonUsers)("the backup of workers' data folders (daemon user: %s)", (_, user) => {
  test("contains a consistent database if the worker writes during the backup", { timeout: 120_000 }, async () => {
    const daemon = await start(user);
    const url = await addStore(daemon);
    await askStorage(url, "insert", { name: "rows.db" });
    const stop = new AbortController();
    const failures: unknown[] = [];
    const load = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        const { code } = await askStorage(url, "insert", { name: "rows.db" });
        if (code !== undefined) failures.push(code);
      }
    };
    const running = load();
    const counts: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const file = path.join(daemon.directory, `backup-${round}.tgz`);
      expect(await run(daemon.directory, ["backup", file])).toMatchObject({ status: 0 });
      const target = await temporaryDirectory();
      expect(await run(target, ["restore", file, "--yes"])).toMatchObject({ status: 0 });
      const database = new Database(path.join(target, "data/store/rows.db"));
      expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
      counts.push(database.prepare("SELECT count(*) FROM rows").pluck().get() as number);
      database.close();
    }
    stop.abort();
    await running;
    expect(failures).toEqual([]);
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(await hiddenEntriesOf(daemon.directory)).toEqual([]);
  });

  test("replaces data folders at a restore, and the worker can read and write the files", async () => {
    const daemon = await start(user);
    const url = await addStore(daemon);
    await askStorage(url, "write", { name: "file", text: "backed up" });
    const file = path.join(daemon.directory, "backup.tgz");
    expect(await run(daemon.directory, ["backup", file])).toMatchObject({ status: 0 });
    await askStorage(url, "write", { name: "file", text: "changed" });
    await askStorage(url, "write", { name: "later" });
    await daemon.stop();
    expect(await run(daemon.directory, ["restore", file, "--yes"])).toMatchObject({ status: 0 });

    const again = await start({ ...user, directory: daemon.directory });
    const restored = `${again.url}/store/`;
    expect(await askStorage(restored, "list")).toEqual({ result: ["file"] });
    expect(await askStorage(restored, "read", { name: "file" })).toEqual({ result: "backed up" });
    expect(await askStorage(restored, "write", { name: "file" })).toEqual({ result: null });
    const [kept = ""] = (await readdir(path.join(daemon.directory, "data"))).filter((name) => name.startsWith(".before-restore-"));
    expect(await readFile(path.join(daemon.directory, "data", kept, "store/file"), "utf8")).toBe("changed");
  });
});

test("`daemon restore` keeps the data folders when the backup has format 1", async () => {
  const daemon = await start();
  const file = path.join(daemon.directory, "backup.tgz");
  expect(await run(daemon.directory, ["backup", file])).toMatchObject({ status: 0 });
  const url = await addStore(daemon);
  await askStorage(url, "write", { name: "file", text: "kept" });
  await daemon.stop();
  // The digit of the version has the same length, so only the bytes of the documents change.
  const tar = gunzipSync(await readFile(file))
    .toString("latin1")
    .replaceAll('"version":2', '"version":1');
  await writeFile(file, gzipSync(Buffer.from(tar, "latin1")));

  const dataOnly = await run(daemon.directory, ["restore", file, "--data-only", "--yes"]);
  expect(dataOnly).toMatchObject({ status: 1, stderr: expect.stringContaining("contains no data folders") });
  expect(await run(daemon.directory, ["restore", file, "--yes"])).toMatchObject({ status: 0 });
  expect(await readFile(path.join(daemon.directory, "data/store/file"), "utf8")).toBe("kept");
});

test("`daemon backup` leaves no copy of a data folder when the process is killed", async () => {
  const daemon = await start();
  const at = (name: string) => path.join(daemon.directory, name);
  // Random bytes, because their compression takes long enough for the test to find the copy.
  await mkdir(at("data/large"), { recursive: true });
  await writeFile(at("data/large/file"), randomBytes(100 * 1024 * 1024));
  const variables = { RUNTIME_STATE_DIR: at("state"), RUNTIME_WORKER_DIRS: at("workers"), RUNTIME_PLUGIN_DIRS: at("plugins") };
  const job = { action: "backup", file: at("backup.tgz"), variables };
  const program = spawn(process.execPath, [backupProgram, JSON.stringify(job)], { stdio: "ignore" });
  await expect.poll(() => hiddenEntriesOf(daemon.directory), { interval: 5 }).toHaveLength(1);
  program.kill("SIGKILL");
  await once(program, "exit");
  expect(program.signalCode).toBe("SIGKILL");
  await expect.poll(() => hiddenEntriesOf(daemon.directory)).toEqual([]);
  expect(await readdir(at("data"))).toEqual(["large"]);
});

test("`daemon backup` includes the data folders while the daemon is stopped", async () => {
  const daemon = await start();
  await askStorage(await addStore(daemon), "write", { name: "file", text: "stopped" });
  await daemon.stop();
  const file = path.join(daemon.directory, "backup.tgz");
  const { status, stdout } = await run(daemon.directory, ["backup", file, "--json"]);
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ data: 1 });
});
