import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import Database from "better-sqlite3";
import { pino } from "pino";
import { describe, expect, onTestFinished, test } from "vitest";
import { copyKeyDatabase, openKeyDatabase } from "../../../../src/server/access/key-database.js";
import { keyMigrations, type KeyMigration, type FinishedMigration } from "../../../../src/server/access/key-migrations.js";
import { LocalKeyStore } from "../../../../src/server/access/local-key-store.js";
import { createLog } from "../../../../src/server/log/log.js";
import { NewerStateError } from "../../../../src/server/config/newer-state-error.js";
import { newKey } from "../../../support/open-replicated-store.js";
import { temporaryDirectory } from "../../../support/temporary-directory.js";

const current = keyMigrations.length;
const addNote: KeyMigration = {
  schema: current + 1,
  summary: "add the column note",
  apply: (database) => void database.exec("ALTER TABLE keys ADD COLUMN note TEXT NOT NULL DEFAULT 'none'"),
};
const renameNote: KeyMigration = {
  schema: current + 2,
  summary: "rename the column note",
  apply: (database) => void database.exec("ALTER TABLE keys RENAME COLUMN note TO remark"),
};
const failing: KeyMigration = {
  schema: current + 2,
  summary: "fill the column note",
  apply: (database) => void database.exec("UPDATE keys SET note = 'filled'; INSERT INTO keys (id) VALUES (1)"),
};
const newer = [...keyMigrations, addNote];
const backupName = `keys.db.schema-${current}.backup`;

/** Creates a state directory with keys of the current schema and an empty log. */
async function stateWithKeys(count = 3): Promise<{ directory: string; file: string; rows: unknown[] }> {
  const directory = await temporaryDirectory();
  const store = new LocalKeyStore({ stateDirectory: directory, log: createLog({ level: "silent" }) });
  for (let number = 0; number < count; number += 1) store.create(newKey(`key ${number}`));
  store.close();
  const file = path.join(directory, "keys.db");
  return { directory, file, rows: rowsOf(file) };
}

function rowsOf(file: string): unknown[] {
  const database = new Database(file, { readonly: true });
  const rows = database.prepare("SELECT * FROM keys ORDER BY id").all();
  database.close();
  return rows;
}

function schemaIn(file: string): unknown {
  const database = new Database(file, { readonly: true });
  const schema = database.pragma("user_version", { simple: true });
  database.close();
  return schema;
}

/** Excludes the files that SQLite keeps beside a store while the store is open. */
const filesIn = async (directory: string) => (await readdir(directory)).filter((name) => !/-(?:wal|shm)$/.test(name)).toSorted();

const open = (file: string, migrations: readonly KeyMigration[]) => {
  const finished: FinishedMigration[] = [];
  openKeyDatabase(file, { migrations, onMigrated: (migration) => finished.push(migration) }).close();
  return finished;
};

test("released migration steps of the key store have consecutive numbers from 1", () => {
  expect(keyMigrations.map(({ schema }) => schema)).toEqual(keyMigrations.map((_, index) => index + 1));
});

describe("a key store with an older schema", () => {
  test("is migrated in one transaction, after a backup that only its owner can read", async () => {
    const { directory, file, rows } = await stateWithKeys();

    const finished = open(file, [...newer, renameNote]);

    const backup = path.join(directory, backupName);
    expect(finished).toEqual([{ file, from: current, to: current + 2, backup }]);
    expect(rowsOf(file)).toEqual(rows.map((row) => ({ ...(row as object), remark: "none" })));
    expect(schemaIn(file)).toBe(current + 2);
    expect((await stat(backup)).mode & 0o777).toBe(0o600);
    expect(await filesIn(directory)).toEqual(["keys.db", backupName]);
    expect(open(file, [...newer, renameNote])).toEqual([]);
  });

  test("opens in the earlier version of runtimed after a restore from its backup", async () => {
    const { directory, file, rows } = await stateWithKeys();
    open(file, newer);

    await copyFile(path.join(directory, backupName), file);

    const store = new LocalKeyStore({ stateDirectory: directory, log: createLog({ level: "silent" }) });
    onTestFinished(() => store.close());
    expect(store.list()).toHaveLength(rows.length);
    expect(store.create(newKey()).id).toBe(rows.length + 1);
  });

  test("keeps the changes of its write-ahead log, which the backup also contains", async () => {
    const { directory, file } = await stateWithKeys();
    const crashed = path.join(await temporaryDirectory(), "keys.db");
    const database = openKeyDatabase(file);
    database.exec("UPDATE keys SET name = 'in the log'");
    for (const suffix of ["", "-wal"]) await copyFile(file + suffix, crashed + suffix);
    database.close();

    open(crashed, newer);

    for (const each of [crashed, path.join(path.dirname(crashed), backupName)])
      expect(new Set(rowsOf(each).map((row) => (row as { name: string }).name))).toEqual(new Set(["in the log"]));
    expect(await filesIn(directory)).toEqual(["keys.db"]);
  });

  test("is migrated after a restore from the backup of a running daemon", async () => {
    const { file, rows } = await stateWithKeys();
    const restored = path.join(await temporaryDirectory(), "keys.db");
    await copyKeyDatabase(file, restored);

    expect(open(restored, newer)).toHaveLength(1);

    expect(rowsOf(restored)).toHaveLength(rows.length);
    expect(schemaIn(restored)).toBe(current + 1);
  });

  test("causes one log line with both schema versions and the path of the backup", async () => {
    const { directory, file } = await stateWithKeys();
    const lines: string[] = [];
    const log = pino({ level: "info" }, { write: (line) => lines.push(line) });

    new LocalKeyStore({ stateDirectory: directory, log, migrations: newer }).close();

    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { msg: "key store migrated to a newer schema", file, from: current, to: current + 1, backup: path.join(directory, backupName) },
    ]);
  });

  test("keeps an earlier backup with the same schema version and different content", async () => {
    const { directory, file } = await stateWithKeys();
    const earlier = path.join(directory, backupName);
    await writeFile(earlier, "of an earlier upgrade", { mode: 0o644 });

    open(file, newer);

    const kept = (await readdir(directory)).filter((name) => name.startsWith(`${backupName}-`));
    expect(kept).toHaveLength(1);
    expect(await readFile(path.join(directory, kept[0] as string), "utf8")).toBe("of an earlier upgrade");
    expect((await stat(earlier)).mode & 0o777).toBe(0o600);
    expect(rowsOf(earlier)).toHaveLength(3);
  });
});

describe("a migration step of the key store", () => {
  test("leaves the store unchanged when it fails, and the error names step and backup", async () => {
    const { directory, file, rows } = await stateWithKeys();
    const before = await readFile(file);
    const backup = path.join(directory, backupName);

    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(() => open(file, [...newer, failing])).toThrow(
        new RegExp(
          `^The key store ${file} cannot be opened \\(its migration to schema ${current + 2}, "fill the column note", failed: .+\\)\\. ` +
            `The key store still has schema ${current}, and ${backup} is a copy\\.`,
        ),
      );

    expect((await readFile(file)).equals(before)).toBe(true);
    expect(rowsOf(backup)).toEqual(rows);
    expect(await filesIn(directory)).toEqual(["keys.db", backupName]);
    expect(open(file, newer)).toHaveLength(1);
  });

  test("does not run when the backup cannot be written", async () => {
    const { directory, file } = await stateWithKeys();
    const before = await readFile(file);
    const blocked: KeyMigration = { ...addNote, apply: () => expect.unreachable() };
    await mkdir(path.join(directory, `${backupName}.unfinished`));

    expect(() => open(file, [...keyMigrations, blocked])).toThrow(/The keys are still in the key store/);

    expect((await readFile(file)).equals(before)).toBe(true);
    expect(schemaIn(file)).toBe(current);
  });
});

describe("a second process that opens the key store during a migration", () => {
  test('gets the error "database is locked", and the migration completes', async () => {
    const { file } = await stateWithKeys();
    const refusals: unknown[] = [];
    const openingTwice: KeyMigration = {
      ...addNote,
      apply: (database) => {
        addNote.apply(database);
        try {
          open(file, newer);
        } catch (error) {
          refusals.push(error);
        }
      },
    };

    expect(open(file, [...keyMigrations, openingTwice])).toHaveLength(1);

    expect(refusals).toEqual([expect.objectContaining({ message: expect.stringContaining("database is locked") as string })]);
    expect(schemaIn(file)).toBe(current + 1);
    expect(open(file, newer)).toEqual([]);
  });
});

describe("a key store with a newer schema", () => {
  test("remains unchanged, and the error names both schemas and the backup to restore", async () => {
    const { directory, file } = await stateWithKeys();
    open(file, newer);
    const before = await readFile(file);

    const refusal = new RegExp(
      `^The key store ${file} has schema ${current + 1}, and this runtimed supports schemas up to ${current}: ` +
        `upgrade runtimed, or restore the backup ${path.join(directory, backupName)}\\.$`,
    );
    expect(() => openKeyDatabase(file)).toThrow(NewerStateError);
    expect(() => openKeyDatabase(file)).toThrow(refusal);

    expect((await readFile(file)).equals(before)).toBe(true);
  });

  test("causes an error with the restore command when no suitable backup exists", async () => {
    const { directory, file } = await stateWithKeys();
    open(file, newer);
    await copyFile(path.join(directory, backupName), path.join(directory, `keys.db.schema-${current + 1}.backup`));
    await rm(path.join(directory, backupName));

    expect(() => openKeyDatabase(file)).toThrow(/upgrade runtimed, or restore an older backup with runtimectl daemon restore FILE\.$/);
  });
});
