import type Database from "better-sqlite3";
import { NewerStateError } from "../config/newer-state-error.js";
import { schemaOf, type KeyMigration } from "./key-migrations.js";
import { findSchemaBackup, writeSchemaBackup } from "./schema-backup.js";

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
