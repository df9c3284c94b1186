import { chmod, copyFile, readFile, readdir, stat, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import Database from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { openKeyDatabase } from "../../../../src/server/access/key-database.js";
import { createKeySecret, hashKeySecret, shownPrefixOf } from "../../../../src/server/access/credentials.js";
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

/** Returns all bytes of the store's files, including the write-ahead log. */
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

describe("a stored key", () => {
  test("is on disk only as a hash", async () => {
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

  test("keeps all fields when the store is opened again", async () => {
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

  test("remains after a crash when the store has confirmed the key", async () => {
    const directory = await temporaryDirectory();
    const crashed = openStore(directory);
    const secret = createKeySecret();
    const { id } = crashed.create(newKey(secret));

    // The store is not closed: this connection reads the state after kill -9.
    const database = new Database(path.join(directory, "keys.db"), { readonly: true });
    onTestFinished(() => void database.close());

    expect(database.prepare("SELECT id, hash FROM keys").all()).toEqual([{ id, hash: hashKeySecret(secret) }]);
  });

  test("has an ID that no later key receives, even after the key is revoked", async () => {
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

  test("is not found after its revocation and cannot be revoked twice", async () => {
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

  test("is flushed to disk at each commit, even after the store is opened again", async () => {
    const file = path.join(await temporaryDirectory(), "keys.db");
    openKeyDatabase(file).close();

    const reopened = openKeyDatabase(file);
    onTestFinished(() => void reopened.close());

    expect(reopened.pragma("journal_mode", { simple: true })).toBe("wal");
    expect(reopened.pragma("synchronous", { simple: true })).toBe(2);
  });

  test("is stored in files that only the owner can read", async () => {
    const directory = await temporaryDirectory();
    openStore(directory).close();
    // A mode with which all users of the machine can read the file.
    await chmod(path.join(directory, "keys.db"), 0o644);

    openStore(directory).create(newKey(createKeySecret()));

    const names = (await readdir(directory)).toSorted();
    expect(names).toEqual(["keys.db", "keys.db-shm", "keys.db-wal"]);
    for (const name of names) expect((await stat(path.join(directory, name))).mode & 0o777, name).toBe(0o600);
  });
});

describe("a key rotation", () => {
  const later = 1_700_000_500;

  test("adds the new key, and sets an earlier expiry of the old key", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const [secret, replacementSecret] = [createKeySecret(), createKeySecret()];
    const old = store.create(newKey(secret));

    const replacement = store.rotate(old.id, newKey(replacementSecret, { createdAt: later, expiresAt: 1_800_000_000 }), later + 60);

    expect(replacement).toMatchObject({ name: old.name, createdAt: later, expiresAt: 1_800_000_000, lastUsedAt: undefined });
    expect(store.list()).toEqual([{ ...old, expiresAt: later + 60 }, replacement]);
    store.close();
    const reopened = openStore(directory);
    expect(reopened.list()).toEqual([{ ...old, expiresAt: later + 60 }, replacement]);
    expect(reopened.findByHash(hashKeySecret(secret))?.expiresAt).toBe(later + 60);
    expect(reopened.findByHash(hashKeySecret(replacementSecret))).toEqual(replacement);
  });

  test("revokes the old key in the same commit when it has no grace period", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const secret = createKeySecret();
    const { id } = store.create(newKey(secret));

    const replacement = store.rotate(id, newKey(createKeySecret(), { createdAt: later }), later);

    expect(store.list()).toEqual([replacement]);
    expect(store.findByHash(hashKeySecret(secret))).toBeUndefined();
    expect(store.revoke(id, later)).toBe(false);
    store.close();
    expect(openStore(directory).list()).toEqual([replacement]);
  });

  test("adds no key when the ID belongs to no active key", async () => {
    const store = openStore(await temporaryDirectory());
    const { id } = store.create(newKey(createKeySecret()));
    store.revoke(id, later);

    expect(store.rotate(id, newKey(createKeySecret(), { createdAt: later }), later + 60)).toBeUndefined();
    expect(store.rotate(4_711, newKey(createKeySecret(), { createdAt: later }), later + 60)).toBeUndefined();

    expect(store.list()).toEqual([]);
  });

  test("leaves the old key unchanged in memory and on disk when it fails", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const [first, second] = [createKeySecret(), createKeySecret()];
    const { id } = store.create(newKey(first));
    store.create(newKey(second));
    const before = store.list();

    // Hashes are unique, so this replacement key cannot be inserted after the change of the old key.
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

describe("the last use of a key", () => {
  test("is visible immediately, and is written to disk when the store closes", async () => {
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

  test("is ignored after the key's revocation", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const { id } = store.create(newKey(createKeySecret()));
    store.revoke(id, 1_700_000_000);

    store.markUsed(id, 1_700_000_010);
    store.close();

    expect(lastUseOnDisk(directory)).toEqual([null]);
  });
});

describe("a key store whose file shrank", () => {
  test("rejects changes even after the file grows again", async () => {
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

test("a key store uses its journal to restore the state before an interrupted change", async () => {
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
  // With a full cache, SQLite writes changed pages, and the journal before them, during the transaction.
  database.pragma("cache_size = 1");
  database.exec("BEGIN; UPDATE keys SET name = 'changed'");
  for (const suffix of ["", "-journal"]) await copyFile(file + suffix, killed + suffix);

  expect(openStore(path.dirname(killed)).list()).toEqual(before);
});

describe("an unusable key store", () => {
  test("causes an error with a fix and remains unchanged if it is not a database", async () => {
    const directory = await temporaryDirectory();
    const file = path.join(directory, "keys.db");
    const content = Buffer.alloc(8_192, "not a database ");
    await writeFile(file, content);

    expect(() => openStore(directory)).toThrow(/keys\.db cannot be opened .*Restore a backup/);

    expect(await readFile(file)).toEqual(content);
    expect(await readdir(directory)).toEqual(["keys.db"]);
  });

  test("is rejected and remains unchanged if a page of the database file is damaged", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    for (let count = 0; count < 100; count += 1) store.create(newKey(createKeySecret()));
    store.close();
    const file = path.join(directory, "keys.db");
    const damaged = await readFile(file);
    // The first page lists the tables and stays valid.
    damaged.fill(0xff, 4_096);
    await writeFile(file, damaged);

    expect(() => openStore(directory)).toThrow(/cannot be opened/);

    expect((await readFile(file)).equals(damaged)).toBe(true);
  });

  test("causes an error with upgrade advice and remains unchanged if its schema is newer", async () => {
    const directory = await temporaryDirectory();
    const file = path.join(directory, "keys.db");
    const newer = new Database(file);
    newer.exec("CREATE TABLE keys (id INTEGER PRIMARY KEY, something_new TEXT)");
    newer.pragma("user_version = 3");
    newer.close();
    const before = await readFile(file);

    expect(() => openStore(directory)).toThrow(/has schema 3, and this runtimed supports schemas up to 2: upgrade runtimed/);

    expect((await readFile(file)).equals(before)).toBe(true);
    expect(await readdir(directory)).toEqual(["keys.db"]);
  });

  test("rejects changes with 503 when another process has locked the store", async () => {
    const directory = await temporaryDirectory();
    const store = openStore(directory);
    const secret = createKeySecret();
    const { id } = store.create(newKey(secret));
    const otherProcess = new Database(path.join(directory, "keys.db"));
    otherProcess.exec("BEGIN IMMEDIATE");

    const refusal = expect.objectContaining({ code: "KEY_STORE_UNAVAILABLE", status: 503, retryAfterSeconds: 5 });
    expect(() => store.create(newKey(createKeySecret()))).toThrow(refusal);
    expect(() => store.revoke(id, 1_700_000_100)).toThrow(refusal);
    expect(() => store.rotate(id, newKey(createKeySecret()), 1_800_000_000)).toThrow(refusal);
    expect(store.readState().isWritable).toBe(false);
    expect(store.findByHash(hashKeySecret(secret))?.id).toBe(id);
    expect(store.list()).toHaveLength(1);

    otherProcess.close();
    expect(store.readState().isWritable).toBe(true);
    expect(store.revoke(id, 1_700_000_100)).toBe(true);
  });
});
