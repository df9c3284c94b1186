import { createWriteStream } from "node:fs";
import { mkdir, readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { openKeyDatabase } from "../../../src/server/access/key-database.js";
import { keyMigrations, type KeyMigration } from "../../../src/server/access/key-migrations.js";
import { LocalKeyStore } from "../../../src/server/access/local-key-store.js";
import { formatName, formatVersion } from "../../../src/server/backup/backup-format.js";
import { BackupPieces } from "../../../src/server/backup/backup-stream.js";
import { migrateKeys } from "../../../src/server/backup/migrate-keys.js";
import { migratePackages } from "../../../src/server/backup/migrate-packages.js";
import { restoreBackup } from "../../../src/server/backup/restore-backup.js";
import { writeBackup } from "../../../src/server/backup/write-backup.js";
import { createLog } from "../../../src/server/log/log.js";
import { newKey } from "../../support/open-replicated-store.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const current = keyMigrations.length;
const addNote: KeyMigration = {
  schema: current + 1,
  summary: "add the column note",
  apply: (database) => void database.exec("ALTER TABLE keys ADD COLUMN note TEXT"),
};
const newer = [...keyMigrations, addNote];

/** Creates the directories of a stopped daemon with two keys. */
async function stoppedDaemon() {
  const directory = await temporaryDirectory();
  const [stateDirectory, worker, plugin] = ["state", "workers", "plugins"].map((name) => path.join(directory, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [stateDirectory, worker, plugin]) await mkdir(each);
  const store = new LocalKeyStore({ stateDirectory, log: createLog({ level: "silent" }) });
  for (const name of ["first", "second"]) store.create(newKey(name));
  store.close();
  const directories = { stateDirectory, dataDirectory: `${stateDirectory}-data`, workerDirectories: [worker], pluginDirectories: [plugin] };
  return { directory, directories, file: path.join(stateDirectory, "keys.db"), archive: path.join(directory, "backup.tgz") };
}

const withArchive = (file: string) => ({ file, environment: {}, isDataOnly: false, discardOld: false });
const migrate = (file: string) => openKeyDatabase(file, { migrations: newer }).close();

/** Migrates the key store to a newer schema. Removes the write-ahead log, so that the store is one file as in a backup. */
function setNewer(file: string): void {
  migrate(file);
  const database = new Database(file);
  database.pragma("journal_mode = DELETE");
  database.close();
}

function schemaIn(file: string): unknown {
  const database = new Database(file, { readonly: true });
  const schema = database.pragma("user_version", { simple: true });
  database.close();
  return schema;
}

const refusal = expect.objectContaining({
  code: "KEY_STORE_NEWER",
  message: expect.stringMatching(
    new RegExp(`has schema ${current + 1}, and this runtimectl supports schemas up to ${current}; `),
  ) as string,
  hint: expect.stringContaining("use the runtimectl version of the runtimed that wrote the key store") as string,
}) as Error;

test("the daemon migrates the key store of an older backup when it opens the store", async () => {
  const { directories, file, archive } = await stoppedDaemon();
  await writeBackup(directories, {}, archive);
  migrate(file);

  expect(await restoreBackup({ directories, ...withArchive(archive), isDryRun: false })).toMatchObject({ keys: 2 });

  expect(schemaIn(file)).toBe(current);
  const store = new LocalKeyStore({
    stateDirectory: directories.stateDirectory,
    log: createLog({ level: "silent" }),
    migrations: newer,
  });
  expect(store.list().map(({ name }) => name)).toEqual(["first", "second"]);
  store.close();
  expect(schemaIn(file)).toBe(current + 1);
});

test("a backup of a key store with a newer schema fails and writes no archive", async () => {
  const { directory, directories, file, archive } = await stoppedDaemon();
  migrate(file);
  const before = await readFile(file);

  await expect(writeBackup(directories, {}, archive)).rejects.toEqual(refusal);

  expect((await readFile(file)).equals(before)).toBe(true);
  expect(await readdir(directory)).not.toContain(path.basename(archive));
});

test.each([{ isDryRun: true }, { isDryRun: false }])(
  "a restore from a backup with a newer schema changes nothing (dry run: $isDryRun)",
  async ({ isDryRun }) => {
    const { directories, file, archive } = await stoppedDaemon();
    const other = await stoppedDaemon();
    setNewer(other.file);
    const pieces = new BackupPieces({
      format: { format: formatName, version: formatVersion, createdAt: new Date().toISOString(), runtimectl: "9.0.0" },
      keyStore: { file: other.file, keys: 2 },
      directories: [],
      copyData: () => Promise.resolve(undefined),
    });
    await pipeline(Readable.from(pieces.all()), createGzip(), createWriteStream(archive));
    const before = await readFile(file);

    await expect(restoreBackup({ directories, ...withArchive(archive), isDryRun })).rejects.toEqual(refusal);

    expect((await readFile(file)).equals(before)).toBe(true);
    expect((await readdir(directories.stateDirectory)).filter((name) => name.includes("restor"))).toEqual([]);
  },
);

test("keys of a store with a newer schema cannot be copied to a primary", async () => {
  const { directories, file } = await stoppedDaemon();
  migrate(file);
  const before = await readFile(file);
  const environment = { RUNTIME_AUTH_DB_SYNC_URL: "http://127.0.0.1:9" };

  await expect(migrateKeys(directories, environment, { isDryRun: false })).rejects.toEqual(refusal);

  expect((await readFile(file)).equals(before)).toBe(true);
  expect(await readdir(directories.stateDirectory)).toContain("keys.db");
});

test("packages of a key store with a newer schema cannot be moved to a registry", async () => {
  const { directories, file } = await stoppedDaemon();
  migrate(file);
  const before = await readFile(file);
  const environment = { RUNTIME_PACKAGE_STORE: "oci:http://127.0.0.1:9/runtimed" };

  await expect(migratePackages(directories, environment, { target: "oci", isDryRun: false })).rejects.toEqual(refusal);

  expect((await readFile(file)).equals(before)).toBe(true);
});
