import { chmod, copyFile, readFile, readdir, stat, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { openKeyDatabase } from "../../../../src/server/access/key-database.js";
import { createKeySecret, hashKeySecret, shownPrefixOf } from "../../../../src/server/access/key-secret.js";
import type { NewKey } from "../../../../src/server/access/key-store.js";
import { LocalKeyStore } from "../../../../src/server/access/local-key-store.js";
import { createLog } from "../../../../src/server/log/log.js";
import { temporaryDirectory } from "../../../support/temporary-directory.js";

function openStore(stateDirectory: string): LocalKeyStore {
  const store = new LocalKeyStore({ stateDirectory, log: createLog({ level: "silent" }) });
  onTestFinished(() => store.close());
  return store;
}

function newKey(secret: string, changes: Partial<NewKey> = {}): NewKey {
  return {
    name: "deploys",
    keyPrefix: shownPrefixOf(secret),
    hash: hashKeySecret(secret),
    role: "editor",
    permissions: ["workers:install"],
    namespaces: ["@team"],
    createdAt: 1_700_000_000,
    expiresAt: undefined,
    ...changes,
  };
}

/** All bytes of the store's files, the write-ahead log included. */
async function bytesOnDisk(stateDirectory: string): Promise<string> {
  const names = (await readdir(stateDirectory)).filter((name) => name.startsWith("keys.db"));
  expect(names).toContain("keys.db");
  const contents = await Promise.all(names.map((name) => readFile(path.join(stateDirectory, name), "latin1")));
  return contents.join("");
}

const lastUseOnDisk = (directory: string) => {
  const database = new Database(path.join(directory, "keys.db"), { readonly: true });
  const uses = database.prepare("SELECT last_used_at FROM keys ORDER BY id").pluck().all();
  database.close();
  return uses;
};

describe("what is kept", () => {
  test("a key's secret is nowhere on disk, its hash is", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const secret = createKeySecret();

    store.create(newKey(secret));

    const whileOpen = await bytesOnDisk(directory);
    store.close();
    const afterClose = await bytesOnDisk(directory);
    for (const bytes of [whileOpen, afterClose]) {
      expect(bytes).toContain(hashKeySecret(secret));
      expect(bytes).not.toContain(secret.slice("rtk_".length));
      expect(bytes).not.toContain(secret.slice(-20));
    }
  });

  test("a store that is opened again has the same keys, with everything about them", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const secret = createKeySecret();
    const created = store.create(newKey(secret, { name: "schlüssel ✓", expiresAt: 1_800_000_000 }));
    store.create(newKey(createKeySecret(), { role: "custom", namespaces: ["*"] }));
    const before = store.list();
    store.close();

    const reopened = openStore(directory);

    expect(reopened.list()).toEqual(before);
    expect(reopened.findByHash(hashKeySecret(secret))).toEqual(created);
  });

  test("a store left by a crash has every key that was acknowledged", async () => {
    const directory = await temporaryDirectory();
    const crashed = openStore(directory);
    const secret = createKeySecret();
    const { id } = crashed.create(newKey(secret));

    // Not closed: the other connection sees what a process after kill -9 would see.
    const database = new Database(path.join(directory, "keys.db"), { readonly: true });
    onTestFinished(() => void database.close());

    expect(database.prepare("SELECT id, hash FROM keys").all()).toEqual([{ id, hash: hashKeySecret(secret) }]);
  });

  test("the id of a revoked key is never given again, also not after the store was opened again", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const first = store.create(newKey(createKeySecret()));
    const second = store.create(newKey(createKeySecret()));
    store.revoke(second.id, 1_700_000_100);
    store.revoke(first.id, 1_700_000_100);
    store.close();

    const reopened = openStore(directory);
    const third = reopened.create(newKey(createKeySecret()));

    expect(third.id).toBeGreaterThan(second.id);
    expect(reopened.list().map(({ id }) => id)).toEqual([third.id]);
  });

  test("a revoked key is not found any more, and cannot be revoked twice", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const secret = createKeySecret();
    const { id } = store.create(newKey(secret));

    expect(store.revoke(id, 1_700_000_100)).toBe(true);

    expect(store.findByHash(hashKeySecret(secret))).toBeUndefined();
    expect(store.revoke(id, 1_700_000_200)).toBe(false);
    expect(store.revoke(4_711, 1_700_000_200)).toBe(false);
    store.close();
    expect(openStore(directory).findByHash(hashKeySecret(secret))).toBeUndefined();
  });

  test("every commit is flushed to the disk, also in a store that is opened again", async () => {
    const file = path.join(await temporaryDirectory(), "keys.db");
    openKeyDatabase(file).close();

    const reopened = openKeyDatabase(file);
    onTestFinished(() => void reopened.close());

    expect(reopened.pragma("journal_mode", { simple: true })).toBe("wal");
    expect(reopened.pragma("synchronous", { simple: true })).toBe(2);
  });

  test("only the owner can read the store's files", async () => {
    const directory = await temporaryDirectory();
    openStore(directory).close();
    // As left by somebody who did not care.
    await chmod(path.join(directory, "keys.db"), 0o644);

    openStore(directory).create(newKey(createKeySecret()));

    const names = (await readdir(directory)).toSorted();
    expect(names).toEqual(["keys.db", "keys.db-shm", "keys.db-wal"]);
    for (const name of names) expect((await stat(path.join(directory, name))).mode & 0o777, name).toBe(0o600);
  });
});

describe("rotating", () => {
  const later = 1_700_000_500;

  test("adds the twin and shortens the old key, and both are so in a store that is opened again", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const [secret, twinSecret] = [createKeySecret(), createKeySecret()];
    const old = store.create(newKey(secret));

    const twin = store.rotate(old.id, newKey(twinSecret, { createdAt: later, expiresAt: 1_800_000_000 }), later + 60);

    expect(twin).toMatchObject({ name: old.name, createdAt: later, expiresAt: 1_800_000_000, lastUsedAt: undefined });
    expect(store.list()).toEqual([{ ...old, expiresAt: later + 60 }, twin]);
    store.close();
    const reopened = openStore(directory);
    expect(reopened.list()).toEqual([{ ...old, expiresAt: later + 60 }, twin]);
    expect(reopened.findByHash(hashKeySecret(secret))?.expiresAt).toBe(later + 60);
    expect(reopened.findByHash(hashKeySecret(twinSecret))).toEqual(twin);
  });

  test("without an overlap ends the old key with the same commit", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const secret = createKeySecret();
    const { id } = store.create(newKey(secret));

    const twin = store.rotate(id, newKey(createKeySecret(), { createdAt: later }), later);

    expect(store.list()).toEqual([twin]);
    expect(store.findByHash(hashKeySecret(secret))).toBeUndefined();
    expect(store.revoke(id, later)).toBe(false);
    store.close();
    expect(openStore(directory).list()).toEqual([twin]);
  });

  test("of an id that no active key has makes no twin", async () => {
    const store = openStore(await temporaryDirectory());
    const { id } = store.create(newKey(createKeySecret()));
    store.revoke(id, later);

    expect(store.rotate(id, newKey(createKeySecret(), { createdAt: later }), later + 60)).toBeUndefined();
    expect(store.rotate(4_711, newKey(createKeySecret(), { createdAt: later }), later + 60)).toBeUndefined();

    expect(store.list()).toEqual([]);
  });

  test("that fails in its second half leaves the old key as it was, in memory and on disk", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const [first, second] = [createKeySecret(), createKeySecret()];
    const { id } = store.create(newKey(first));
    store.create(newKey(second));
    const before = store.list();

    // Hashes are unique, so this twin cannot be inserted once the old key is changed.
    for (const endsAt of [later + 60, later])
      expect(() => store.rotate(id, newKey(second, { createdAt: later }), endsAt)).toThrow(
        expect.objectContaining({ code: "KEY_STORE_UNAVAILABLE" }) as Error,
      );

    expect(store.list()).toEqual(before);
    expect(store.findByHash(hashKeySecret(first))?.id).toBe(id);
    store.close();
    expect(openStore(directory).list()).toEqual(before);
  });
});

describe("last use", () => {
  test("a use is seen at once, and written with the others when the store closes", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const { id } = store.create(newKey(createKeySecret()));
    store.create(newKey(createKeySecret()));

    store.markUsed(id, 1_700_000_010);
    store.markUsed(id, 1_700_000_020);

    expect(store.list().map(({ lastUsedAt }) => lastUsedAt)).toEqual([1_700_000_020, undefined]);
    expect(lastUseOnDisk(directory)).toEqual([null, null]);
    store.close();
    expect(lastUseOnDisk(directory)).toEqual([1_700_000_020, null]);
  });

  test("a use that comes after the revocation changes nothing", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const { id } = store.create(newKey(createKeySecret()));
    store.revoke(id, 1_700_000_000);

    store.markUsed(id, 1_700_000_010);
    store.close();

    expect(lastUseOnDisk(directory)).toEqual([null]);
  });
});

describe("a store whose file shrank", () => {
  test("stays damaged when the file grows again, and rejects changes", async () => {
    const directory = await temporaryDirectory();
    const file = path.join(directory, "keys.db");
    const store = openStore(directory);
    const secret = createKeySecret();
    store.create(newKey(secret));
    const { size } = await stat(file);
    await truncate(file, 0);
    expect(store.readState()).toMatchObject({ isWritable: false, problem: expect.stringMatching(/shrank from \d+ to 0 bytes/) as string });

    await truncate(file, size);

    expect(store.readState()).toMatchObject({ isWritable: false, problem: expect.stringMatching(/shrank from \d+ to 0 bytes/) as string });
    expect(() => store.create(newKey(createKeySecret()))).toThrow(expect.objectContaining({ code: "KEY_STORE_UNAVAILABLE" }) as Error);
    expect(store.findByHash(hashKeySecret(secret))).toBeDefined();
  });
});

test("opens a store that was killed in a change before it had a write-ahead log, as it was before", async () => {
  const directory = await temporaryDirectory();
  const store = openStore(directory);
  for (let count = 0; count < 200; count += 1) store.create(newKey(createKeySecret()));
  const before = store.list();
  store.close();
  const file = path.join(directory, "keys.db");
  const killed = path.join(await temporaryDirectory(), "keys.db");
  const database = new Database(file);
  onTestFinished(() => void database.close());
  database.pragma("journal_mode = DELETE");
  // A full cache makes SQLite write changed pages, and before them the journal, during the transaction.
  database.pragma("cache_size = 1");
  database.exec("BEGIN; UPDATE keys SET name = 'changed'");
  for (const suffix of ["", "-journal"]) await copyFile(file + suffix, killed + suffix);

  expect(openStore(path.dirname(killed)).list()).toEqual(before);
});

describe("a store that cannot be used", () => {
  test("a file that is no database is refused with what to do, and stays as it is", async () => {
    const directory = await temporaryDirectory();
    const file = path.join(directory, "keys.db");
    const content = Buffer.alloc(8_192, "not a database ");
    await writeFile(file, content);

    expect(() => openStore(directory)).toThrow(/keys\.db cannot be opened .*restore it from a backup/);

    expect(await readFile(file)).toEqual(content);
    expect(await readdir(directory)).toEqual(["keys.db"]);
  });

  test("a store with a damaged page is refused, and stays as it is", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    for (let count = 0; count < 100; count += 1) store.create(newKey(createKeySecret()));
    store.close();
    const file = path.join(directory, "keys.db");
    const damaged = await readFile(file);
    // The first page tells where tables are and stays sound.
    damaged.fill(0xff, 4_096);
    await writeFile(file, damaged);

    expect(() => openStore(directory)).toThrow(/cannot be opened/);

    expect((await readFile(file)).equals(damaged)).toBe(true);
  });

  test("rejects a store with a newer schema, advises to upgrade, and leaves it as it is", async () => {
    const directory = await temporaryDirectory();
    const file = path.join(directory, "keys.db");
    const newer = new Database(file);
    newer.exec("CREATE TABLE keys (id INTEGER PRIMARY KEY, something_new TEXT)");
    newer.pragma("user_version = 2");
    newer.close();
    const before = await readFile(file);

    expect(() => openStore(directory)).toThrow(/has schema 2, and this runtimed supports schemas up to 1: upgrade runtimed/);

    expect((await readFile(file)).equals(before)).toBe(true);
    expect(await readdir(directory)).toEqual(["keys.db"]);
  });

  test("while another process holds the write lock, a change is refused with 503 and nothing changes in memory", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const secret = createKeySecret();
    const { id } = store.create(newKey(secret));
    const intruder = new Database(path.join(directory, "keys.db"));
    intruder.exec("BEGIN IMMEDIATE");

    const refusal = expect.objectContaining({ code: "KEY_STORE_UNAVAILABLE", status: 503, retryAfterSeconds: 5 });
    expect(() => store.create(newKey(createKeySecret()))).toThrow(refusal);
    expect(() => store.revoke(id, 1_700_000_100)).toThrow(refusal);
    expect(() => store.rotate(id, newKey(createKeySecret()), 1_800_000_000)).toThrow(refusal);
    expect(store.readState().isWritable).toBe(false);
    expect(store.findByHash(hashKeySecret(secret))?.id).toBe(id);
    expect(store.list()).toHaveLength(1);

    intruder.close();
    expect(store.readState().isWritable).toBe(true);
    expect(store.revoke(id, 1_700_000_100)).toBe(true);
  });
});
