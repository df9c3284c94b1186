import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, readdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { openKeyDatabase } from "../../../src/server/access/key-database.js";
import { keyMigrations } from "../../../src/server/access/key-migrations.js";
import { newKeyColumns, valuesOf } from "../../../src/server/access/key-store.js";
import { newKey } from "../../support/open-replicated-store.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const program = fileURLToPath(new URL("migrate-subject.mjs", import.meta.url));
const keyCount = 2_000;
const current = keyMigrations.length;
/** Delays from the start of opening the store. A migration of these keys takes about 30 ms on an idle machine. */
const killDelaysMs = Array.from({ length: 20 }, (_, index) => index * 3);

/** Creates a file with keys of the current schema, as left by a daemon. */
async function storeWithKeys(): Promise<string> {
  const file = path.join(await temporaryDirectory(), "keys.db");
  const database = openKeyDatabase(file);
  const insert = database.prepare(`INSERT INTO keys (${newKeyColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  database.transaction(() => {
    for (let number = 0; number < keyCount; number += 1) insert.run(...valuesOf(newKey(`key ${number}`)));
  })();
  database.close();
  return file;
}

/** Returns the signal that ended the migration. */
async function migrate(file: string, { killAt = "", killAfterMs }: { killAt?: string; killAfterMs?: number }): Promise<string | null> {
  const child = spawn(process.execPath, [program, file, killAt], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit") as Promise<[number | null, string | null]>;
  if (killAfterMs !== undefined) {
    await once(child.stdout, "data");
    await delay(killAfterMs);
    child.kill("SIGKILL");
  }
  const [code, signal] = await exited;
  expect([0, null]).toContain(code);
  return signal;
}

/** Returns the schema of a store if all keys match it. Throws if it is neither the old nor the new one. */
function wholeSchema(file: string): number {
  const database = new Database(file, { readonly: true });
  try {
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    const schema = database.pragma("user_version", { simple: true }) as number;
    const columns = (database.pragma("table_info(keys)") as { name: string }[]).map(({ name }) => name);
    expect(columns.includes("note")).toBe(schema === current + 1);
    expect(database.prepare("SELECT count(*) FROM keys").pluck().get()).toBe(keyCount);
    if (schema > current) expect(database.prepare("SELECT count(*) FROM keys WHERE note = 'note of ' || id").pluck().get()).toBe(keyCount);
    return schema;
  } finally {
    database.close();
  }
}

async function expectWholeState(file: string): Promise<number> {
  const schema = wholeSchema(file);
  const backup = `${path.basename(file)}.schema-${current}.backup`;
  const hasBackup = (await readdir(path.dirname(file))).includes(backup);
  if (hasBackup) expect(wholeSchema(path.join(path.dirname(file), backup))).toBe(current);
  else expect(schema).toBe(current);
  return schema;
}

test("a killed migration leaves either the complete old or the complete new schema", async () => {
  const file = await storeWithKeys();

  expect(await migrate(file, { killAt: "step" })).toBe("SIGKILL");
  expect(await expectWholeState(file)).toBe(current);

  expect(await migrate(file, { killAt: "commit" })).toBe("SIGKILL");
  expect(await expectWholeState(file)).toBe(current + 1);
  // The second attempt writes the same backup again, not a second copy.
  expect((await readdir(path.dirname(file))).filter((name) => /\.backup/.test(name) && !/-(?:wal|shm)$/.test(name))).toHaveLength(1);
});

test(`a key store keeps all keys after ${killDelaysMs.length} kills of a migration`, async () => {
  const original = await storeWithKeys();
  const schemas: number[] = [];
  for (const killAfterMs of killDelaysMs) {
    const file = path.join(await temporaryDirectory(), "keys.db");
    await copyFile(original, file);

    await migrate(file, { killAfterMs });

    schemas.push(await expectWholeState(file));
    await migrate(file, {});
    expect(await expectWholeState(file)).toBe(current + 1);
  }
  expect(schemas).toContain(current);
}, 120_000);

test("a key store is migrated once when four programs start simultaneously", async () => {
  const file = await storeWithKeys();
  const programs = Array.from({ length: 4 }, () => {
    const child = spawn(process.execPath, [program, file], { stdio: ["ignore", "ignore", "pipe"] });
    let complaint = "";
    child.stderr.on("data", (chunk: Buffer) => (complaint += chunk.toString()));
    return once(child, "close").then(([code]) => ({ code: code as number, complaint }));
  });

  const ends = await Promise.all(programs);

  expect(ends.some(({ code }) => code === 0)).toBe(true);
  for (const { code, complaint } of ends) if (code !== 0) expect(complaint).toContain("database is locked");
  expect(await expectWholeState(file)).toBe(current + 1);
});
