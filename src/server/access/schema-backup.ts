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
 * Writes a copy of the key store to `FILE.schema-N.backup`, readable by its owner only and durable when this returns; returns its path.
 * An earlier backup with other content is kept under its name with the time when it was written.
 */
export function writeSchemaBackup(file: string, schema: number, content: Buffer): string {
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
export function findSchemaBackup(file: string, supported: number): string | undefined {
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
