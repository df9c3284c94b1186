import type Database from "better-sqlite3";
import { NewerStateError } from "../config/newer-state-error.js";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { syncFolder } from "./sync-folder.js";

/** Every schema of `keys.db`, in order. A released step never changes: add a step to change the schema. */
export const keyMigrations: readonly KeyMigration[] = [
  {
    schema: 1,
    summary: "create the table keys",
    apply: (database) =>
      database.exec(`
        CREATE TABLE keys (
          id INTEGER PRIMARY KEY AUTOINCREMENT,
          name TEXT NOT NULL,
          key_prefix TEXT NOT NULL,
          hash TEXT NOT NULL UNIQUE,
          role TEXT NOT NULL,
          permissions TEXT NOT NULL,
          namespaces TEXT NOT NULL,
          created_at INTEGER NOT NULL,
          last_used_at INTEGER,
          expires_at INTEGER,
          revoked_at INTEGER
        ) STRICT`),
  },
  {
    schema: 2,
    summary: "create the table records",
    apply: (database) =>
      database.exec(`
        CREATE TABLE records (
          kind TEXT NOT NULL,
          key TEXT NOT NULL,
          value TEXT,
          revision INTEGER NOT NULL,
          PRIMARY KEY (kind, key)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX records_by_revision ON records (revision)`),
  },
];

/** One step from a schema of the key store to the next. */
export interface KeyMigration {
  /** Number of the schema that the step leads to: 1 for the first, then one more than that of the step before it. */
  readonly schema: number;
  /** Imperative summary for errors, such as "create the table keys". */
  readonly summary: string;
  /** Changes tables and rows. Runs in a transaction that all steps share, so it must not begin or commit one. */
  readonly apply: (database: Database.Database) => void;
}

/** Number of the schema that all steps together lead to. */
export function schemaOf(migrations: readonly KeyMigration[]): number {
  return migrations.at(-1)?.schema ?? 0;
}

/** A migration that was committed. */
export interface FinishedMigration {
  readonly file: string;
  /** Schema numbers. */
  readonly from: number;
  readonly to: number;
  /** Path of the copy that was made before it. */
  readonly backup: string;
}

/** A step threw; the store is as it was. */
export class FailedMigrationError extends Error {
  readonly from: number;
  readonly backup: string;

  constructor({ schema, summary }: KeyMigration, { from, backup, cause }: { from: number; backup: string; cause: unknown }) {
    super(`its migration to schema ${schema}, "${summary}", failed: ${(cause as Error).message}`, { cause });
    this.name = "FailedMigrationError";
    this.from = from;
    this.backup = backup;
  }
}

/**
 * Brings an open key store to the newest schema, after a backup of it, in one transaction; undefined when it has that schema.
 * Throws FailedMigrationError when a step fails and NewerStateError when its schema is higher.
 */
export function migrateKeyDatabase(database: Database.Database, migrations: readonly KeyMigration[]): FinishedMigration | undefined {
  const to = schemaOf(migrations);
  if (readSchema(database) === to) return undefined;
  const migrate = database.transaction(() => {
    // Before this connection had the write lock, another program could migrate the store.
    const from = readSchema(database);
    assertSupported(database, to);
    if (from === to) return undefined;
    const backup = writeSchemaBackup(database.name, from, database.serialize());
    for (const migration of migrations.filter(({ schema }) => schema > from)) {
      try {
        migration.apply(database);
      } catch (cause) {
        throw new FailedMigrationError(migration, { from, backup, cause });
      }
    }
    database.pragma(`user_version = ${to}`);
    return { file: database.name, from, to, backup };
  });
  return migrate.immediate();
}

/** Creates the tables of a new store, in one transaction. */
export function createTables(database: Database.Database, migrations: readonly KeyMigration[]): void {
  database.transaction(() => {
    for (const migration of migrations) migration.apply(database);
    database.pragma(`user_version = ${schemaOf(migrations)}`);
  })();
}

/** Schema number of a store; 0 when it has no tables. */
export function readSchema(database: Database.Database): number {
  return database.pragma("user_version", { simple: true }) as number;
}

/** Throws NewerStateError when the store has a higher schema. */
export function assertSupported(database: Database.Database, supported: number): void {
  const found = readSchema(database);
  if (found <= supported) return;
  const backup = findSchemaBackup(database.name, supported);
  throw new NewerStateError({
    subject: `The key store ${database.name}`,
    found,
    supported,
    remedy: backup === undefined ? "restore an older backup with runtimectl daemon restore FILE" : `restore the backup ${backup}`,
  });
}

/**
 * Writes a copy of the key store to `FILE.schema-N.backup`, readable by its owner only and durable when this returns; returns its path.
 * An earlier backup with other content is kept under its name with the time when it was written.
 */
function writeSchemaBackup(file: string, schema: number, content: Buffer): string {
  const backup = `${file}.schema-${schema}.backup`;
  const unfinished = `${backup}.unfinished`;
  try {
    writeDurably(unfinished, content);
    keepEarlier(backup, content);
    renameSync(unfinished, backup);
    syncFolder(path.dirname(file));
    return backup;
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}

/** Returns the path of the backup beside the key store with the highest schema up to `supported`, or undefined. */
function findSchemaBackup(file: string, supported: number): string | undefined {
  const prefix = `${path.basename(file)}.schema-`;
  const schemas = readdirSync(path.dirname(file))
    .filter((name) => name.startsWith(prefix))
    .map((name) => Number(/^(\d+)\.backup$/.exec(name.slice(prefix.length))?.[1] ?? 0))
    .filter((schema) => schema > 0 && schema <= supported);
  return schemas.length === 0 ? undefined : `${file}.schema-${Math.max(...schemas)}.backup`;
}

function writeDurably(file: string, content: Buffer): void {
  rmSync(file, { force: true });
  const descriptor = openSync(file, "wx", 0o600);
  try {
    chmodSync(file, 0o600);
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A crash before the commit leaves a backup with the same content. Other content is that of a store that was restored since. */
function keepEarlier(backup: string, content: Buffer): void {
  if (!existsSync(backup) || readFileSync(backup).equals(content)) return;
  renameSync(backup, `${backup}-${statSync(backup).mtime.toISOString().replaceAll(/[:.]/g, "-")}`);
}
