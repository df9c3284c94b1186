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

/**
 * All schema migrations of `keys.db`, in order. A migration must not change after its release. Each change of the schema is a new
 * migration.
 */
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

/** Migration of the key store from one schema to the next. */
export interface KeyMigration {
  /** Schema number after this migration. The first migration has number 1. */
  readonly schema: number;
  /** Imperative summary for errors, such as "create the table keys". */
  readonly summary: string;
  /** Changes tables and rows. All migrations run in one transaction, so this function must not begin or commit a transaction. */
  readonly apply: (database: Database.Database) => void;
}

/** Returns the newest schema number among the migrations. */
export function schemaOf(migrations: readonly KeyMigration[]): number {
  return migrations.at(-1)?.schema ?? 0;
}

/** Description of a committed migration of the key store. */
export interface FinishedMigration {
  readonly file: string;
  /** Schema number before the migration. */
  readonly from: number;
  readonly to: number;
  /** Path of the backup that was written before the migration. */
  readonly backup: string;
}

/** Thrown when a schema migration failed. The key store is unchanged. */
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
 * Migrates an open key store to the newest schema in one transaction, after a backup. Returns undefined if no migration is needed. Throws
 * FailedMigrationError, or NewerStateError for a newer schema.
 */
export function migrateKeyDatabase(database: Database.Database, migrations: readonly KeyMigration[]): FinishedMigration | undefined {
  const to = schemaOf(migrations);
  if (readSchema(database) === to) return undefined;
  const migrate = database.transaction(() => {
    // Reads the schema again, because another process can have migrated the key store before this connection received the write lock.
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

/** Creates the tables of a new key store in one transaction. */
export function createTables(database: Database.Database, migrations: readonly KeyMigration[]): void {
  database.transaction(() => {
    for (const migration of migrations) migration.apply(database);
    database.pragma(`user_version = ${schemaOf(migrations)}`);
  })();
}

/** Returns the schema number of a key store, or 0 for a store without tables. */
export function readSchema(database: Database.Database): number {
  return database.pragma("user_version", { simple: true }) as number;
}

/** Throws NewerStateError if the key store has a newer schema than `supported`. */
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
 * Writes a backup of the key store to `FILE.schema-N.backup`, syncs the file and returns its path. Only the owner can read the file. If a
 * different backup has this name, first appends the modification time of that backup to its name.
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

/**
 * Returns the path of the backup with the highest schema number that is not above `supported`. Returns undefined without a matching backup.
 */
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

/**
 * Renames an earlier backup whose content differs from the new backup. The content differs if the operator has restored another key store
 * in between. The content is equal if the daemon crashed before the commit.
 */
function keepEarlier(backup: string, content: Buffer): void {
  if (!existsSync(backup) || readFileSync(backup).equals(content)) return;
  renameSync(backup, `${backup}-${statSync(backup).mtime.toISOString().replaceAll(/[:.]/g, "-")}`);
}
