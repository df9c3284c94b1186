import { cp, open, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openKeyDatabase } from "../../../src/server/access/key-database.js";
import { connect } from "../../support/connect.js";
import { runProgram } from "../../support/run-program.js";
import { runRuntimectl } from "../../support/run-runtimectl.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const program = path.join(import.meta.dirname, "../../../bin/runtimed.js");
const pageBytes = 4096;
const logHeadBytes = 32;
const frameBytes = 24 + pageBytes;
const keyCount = 30;

/** Creates a state directory after kill -9, with keys in the database and keys only in its log, and a backup of it. */
async function killedDaemon(): Promise<{ directory: string; backup: string; key: string }> {
  const directory = await temporaryDirectory();
  const first = await startDaemon({ directory });
  await createKeys(first, keyCount);
  await first.stop();
  const second = await startDaemon({ directory });
  const [key = ""] = await createKeys(second, keyCount);
  const backup = path.join(directory, "backup.tgz");
  expect(await runRuntimectl(second, ["daemon", "backup", backup, ...places(directory)])).toMatchObject({ status: 0 });
  await second.kill();
  return { directory, backup, key };
}

async function createKeys({ url, rootKey }: TestDaemon, count: number): Promise<string[]> {
  const { keys } = connect(url, rootKey);
  const made: string[] = [];
  for (let number = 0; number < count; number += 1)
    made.push((await keys.create({ body: { name: `key ${number}`, role: "viewer" } })).data.key);
  return made;
}

const places = (directory: string) =>
  ["state", "worker", "plugin"].flatMap((kind) => [
    kind === "state" ? "--state-dir" : `--${kind}-dirs`,
    path.join(directory, kind === "state" ? kind : `${kind}s`),
  ]);

/** Overwrites a part of a file. */
async function damage(file: string, at: number, bytes: Buffer): Promise<void> {
  const handle = await open(file, "r+");
  await handle.write(bytes, 0, bytes.length, at);
  await handle.close();
}

/** Returns the files of the store without the file that only running processes need. */
async function storeFiles(state: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(state)).filter((name) => name.startsWith("keys.db") && name !== "keys.db-shm");
  const files = await Promise.all(names.toSorted().map(async (name) => [name, await readFile(path.join(state, name))] as const));
  return new Map(files.filter(([name, { length }]) => name === "keys.db" || length > 0));
}

const garbage = (length: number) => Buffer.alloc(length, "garbage!");
const store = (state: string) => path.join(state, "keys.db");
const log = (state: string) => path.join(state, "keys.db-wal");
const damages: Record<string, (state: string) => Promise<void>> = {
  "an empty store": async (state) => truncate(store(state), 0),
  "an empty store without its log": async (state) => {
    await truncate(store(state), 0);
    await rm(log(state));
  },
  "a deleted store with its log": async (state) => rm(store(state)),
  "a truncated store": async (state) => {
    await rm(log(state));
    await truncate(store(state), 2 * pageBytes);
  },
  "a store with an overwritten header": async (state) => {
    await rm(log(state));
    await damage(store(state), 0, garbage(100));
  },
  "a store with an overwritten page": async (state) => {
    await rm(log(state));
    await damage(store(state), 3 * pageBytes, garbage(pageBytes));
  },
  "a store with a flipped bit in a hash": async (state) => {
    await rm(log(state));
    const content = await readFile(store(state));
    const at = content.lastIndexOf("rtk_") + "rtk_".length + 8;
    await damage(store(state), at, Buffer.from([(content[at] as number) ^ 1]));
  },
  "a log with an overwritten header": async (state) => damage(log(state), 0, garbage(logHeadBytes)),
  "a log with a flipped bit in its header": async (state) => damage(log(state), 13, Buffer.from([0xff])),
  "a log with a truncated header": async (state) => truncate(log(state), logHeadBytes / 2),
  "a log with an overwritten page": async (state) => damage(log(state), logHeadBytes + 3 * frameBytes + 24, garbage(pageBytes)),
  "a log of garbage of twice its length": async (state) => writeFile(log(state), garbage((await readFile(log(state))).length * 2)),
};

test(
  "a daemon rejects a damaged key store, and starts after a backup is restored",
  {
    timeout: 120_000,
  },
  async () => {
    const { directory, backup, key } = await killedDaemon();
    const pristine = path.join(directory, "pristine");
    const state = path.join(directory, "state");
    await cp(state, pristine, { recursive: true });
    for (const [what, doDamage] of Object.entries(damages)) {
      await rm(state, { recursive: true });
      await cp(pristine, state, { recursive: true });
      await doDamage(state);
      const before = await storeFiles(state);

      expect(() => openKeyDatabase(store(state)), what).toThrow(
        /^The key store .*keys\.db cannot be opened .* is unchanged\. Restore a backup with runtimectl daemon restore FILE/,
      );

      expect(await storeFiles(state), what).toEqual(before);
    }

    const { code, stderr } = await runProgram([program], { cwd: directory, env: { PORT: "0", RUNTIME_STATE_DIR: state } });
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^runtimed: The key store .*daemon restore FILE[^\n]*\n$/) });
    const restore = ["daemon", "restore", backup, "--yes", ...places(directory)];
    expect(await runRuntimectl({ url: "http://127.0.0.1:9", rootKey: "", directory }, restore)).toMatchObject({ status: 0 });
    const healed = await startDaemon({ directory });
    onTestFinished(healed.dispose);
    expect((await connect(healed.url, key).keys.list()).keys).toHaveLength(2 * keyCount);
  },
);

test("a key store keeps confirmed keys after an incomplete write to its WAL file", async () => {
  const { directory, key } = await killedDaemon();
  const state = path.join(directory, "state");
  // The last transaction was being written: the checksum of its last page does not match.
  const { length } = await readFile(log(state));
  await damage(log(state), length - 100, garbage(100));

  const database = openKeyDatabase(store(state));
  onTestFinished(() => void database.close());

  const count = database.prepare<[], number>("SELECT count(*) FROM keys").pluck().get();
  expect([2 * keyCount - 1, 2 * keyCount]).toContain(count);
  expect(database.prepare("SELECT name FROM keys WHERE key_prefix = ?").pluck().get(key.slice(0, 12))).toBe("key 0");
});
