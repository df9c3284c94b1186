import type Database from "better-sqlite3";

/** One step from a schema of the key store to the next. */
export interface KeyMigration {
  /** Number of the schema that the step leads to: 1 for the first, then one more than that of the step before it. */
  readonly schema: number;
  /** Imperative summary for errors, such as "create the table keys". */
  readonly summary: string;
  /** Changes tables and rows. Runs in a transaction that all steps share, so it must not begin or commit one. */
  readonly apply: (database: Database.Database) => void;
}

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
];

/** Number of the schema that all steps together lead to. */
export function schemaOf(migrations: readonly KeyMigration[]): number {
  return migrations.at(-1)?.schema ?? 0;
}
