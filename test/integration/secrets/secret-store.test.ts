import { randomBytes } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { LocalKeyStore } from "../../../src/server/access/local-key-store.js";
import { secretsKeySource } from "../../../src/server/config/secrets-key.js";
import { createLog } from "../../../src/server/log/log.js";
import { SecretStore } from "../../../src/server/secrets/secret-store.js";
import type { RecordListener, RecordStore } from "../../../src/server/storage/record-store.js";
import { WorkerManifest } from "../../../src/shared/worker-manifest.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const log = createLog({ level: "silent" });
const keyLine = () => randomBytes(32).toString("base64");
const manifest = WorkerManifest.parse({});

interface Opening {
  readonly directory: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly hasPrimary?: boolean;
  readonly decorate?: (records: RecordStore) => RecordStore;
}

/** Opens the store of a daemon with this state directory, and closes its database after `use`. */
async function withStore<Result>(opening: Opening, use: (store: SecretStore, changed: string[][]) => Promise<Result>): Promise<Result> {
  const { directory, environment = {}, hasPrimary = false, decorate = (records) => records } = opening;
  await mkdir(directory, { recursive: true });
  const keys = new LocalKeyStore({ stateDirectory: directory, log });
  try {
    const changed: string[][] = [];
    const keySource = secretsKeySource(environment, { cwd: directory, stateDirectory: directory });
    const onChange = (owners: ReadonlySet<string>) => void changed.push([...owners]);
    return await use(await SecretStore.open({ records: decorate(keys.records), keySource, hasPrimary, onChange, log }), changed);
  } finally {
    keys.close();
  }
}

const secret = (name: string, value: string, owner = "@team/shop") => ({ owner, name, value, isStaged: false, setAt: 1, setBy: "root" });
const valuesOf = (store: SecretStore) => store.environmentOf("@team/shop", manifest);

describe("the encryption key of secrets", () => {
  test("is created with mode 0600 for the first secret and kept after a restart", async () => {
    const directory = path.join(await temporaryDirectory(), "state");
    const file = path.join(directory, "secrets.key");
    await withStore({ directory }, async (store) => {
      expect(await readdir(directory)).not.toContain("secrets.key");
      expect(store.describeKey().location).toBe(`none yet; the first secret creates ${file}`);
      await Promise.all([store.set(secret("A", "1")), store.set(secret("B", "2"))]);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect((await readFile(file, "utf8")).trim().split("\n")).toHaveLength(1);
      expect(store.describeKey().problem).toBeUndefined();
      await chmod(file, 0o644);
      expect(store.describeKey().problem).toContain("other users can access");
      await chmod(file, 0o600);
    });
    await withStore({ directory }, async (store) => expect(valuesOf(store)).toEqual({ A: "1", B: "2" }));
  });

  test("is read from the systemd credential, and then no key file is created", async () => {
    const directory = await temporaryDirectory();
    const credentials = path.join(directory, "credentials");
    await mkdir(credentials);
    await writeFile(path.join(credentials, "secrets-key"), `${keyLine()}\n`);
    const environment = { CREDENTIALS_DIRECTORY: credentials, RUNTIME_SECRETS_KEY_FILE: "absent" };
    await withStore({ directory, environment }, async (store) => {
      await store.set(secret("A", "1"));
      expect(store.describeKey()).toEqual({
        location: expect.stringMatching(/^systemd credential secrets-key, key [0-9a-f]{16}$/) as string,
      });
      await expect(store.rotateKey()).rejects.toMatchObject({ code: "SECRETS_KEY_UNCHANGED" });
    });
    expect(await readdir(directory)).not.toContain("secrets.key");
  });

  test("is never created if a primary is set, which requires RUNTIME_SECRETS_KEY_FILE", async () => {
    const directory = await temporaryDirectory();
    await withStore({ directory, hasPrimary: true }, async (store) => {
      await expect(store.set(secret("A", "1"))).rejects.toMatchObject({ code: "SECRETS_KEY_UNAVAILABLE" });
      await expect(store.rotateKey()).rejects.toMatchObject({ code: "SECRETS_KEY_UNAVAILABLE" });
      expect(store.list("@team/shop")).toEqual([]);
    });
    const environment = { RUNTIME_SECRETS_KEY_FILE: "absent" };
    await expect(withStore({ directory, environment }, async () => undefined)).rejects.toThrow(/RUNTIME_SECRETS_KEY_FILE.*not accepted/);
  });

  test.each(["", "\n", "short", "A".repeat(44), `${keyLine()} ${keyLine()}`])(
    "prevents the daemon from starting when its file has an invalid format",
    async (text) => {
      const directory = await temporaryDirectory();
      await writeFile(path.join(directory, "keys"), text);
      const environment = { RUNTIME_SECRETS_KEY_FILE: "keys" };
      await expect(withStore({ directory, environment }, async () => undefined)).rejects.toThrow(/keys of 32 bytes in Base64/);
    },
  );

  test("makes secrets unreadable when lost; with a primary, its loss prevents the start", async () => {
    const directory = await temporaryDirectory();
    await withStore({ directory }, (store) => store.set(secret("A", "1")));
    await rm(path.join(directory, "secrets.key"));
    await expect(withStore({ directory, hasPrimary: true }, async () => undefined)).rejects.toThrow(/encrypted with the key [0-9a-f]{16}/);
    await withStore({ directory }, async (store) => {
      expect(store.describeKey().problem).toMatch(/encrypted with the key [0-9a-f]{16}, which the daemon does not have/);
      expect(() => valuesOf(store)).toThrow(/cannot be decrypted/);
      await store.set(secret("A", "2"));
      expect(store.unknownKeyIds()).toEqual([]);
      expect(valuesOf(store)).toEqual({ A: "2" });
    });
  });
});

describe("a rotation of the encryption key", () => {
  test("encrypts with the first key in the key file, and makes the old key unnecessary", async () => {
    const directory = await temporaryDirectory();
    const environment = { RUNTIME_SECRETS_KEY_FILE: "keys" };
    const [first, second] = [keyLine(), keyLine()];
    const write = (...lines: string[]) => writeFile(path.join(directory, "keys"), lines.join("\n"));
    const opening = { directory, environment, hasPrimary: true };
    await write(first);
    await withStore(opening, (store) => store.set(secret("A", "1")));
    await write(second, first);
    await withStore(opening, async (store) => {
      expect(await store.rotateKey()).toMatchObject({ reencrypted: 1 });
      await expect(store.rotateKey()).rejects.toMatchObject({ code: "SECRETS_KEY_UNCHANGED" });
    });
    await write(second);
    await withStore(opening, async (store) => expect(valuesOf(store)).toEqual({ A: "1" }));
  });

  test("keeps all values and concurrent changes, and reports no change of a secret", async () => {
    const directory = await temporaryDirectory();
    await withStore({ directory }, async (store, changed) => {
      for (let index = 0; index < 90; index += 1) await store.set(secret(`KEY_${index}`, String(index)));
      changed.length = 0;
      await store.rotateKey();
      expect(changed).toEqual([]);
      await Promise.all([store.rotateKey(), store.set(secret("KEY_0", "new")), store.rotateKey()]);
    });
    await withStore({ directory }, async (store) => {
      expect(store.unknownKeyIds()).toEqual([]);
      expect(valuesOf(store)).toMatchObject({ KEY_0: "new", KEY_1: "1", KEY_89: "89" });
    });
  });

  test("is completed at the next start when it was interrupted", async () => {
    const directory = await temporaryDirectory();
    await withStore({ directory }, async (store) => {
      for (let index = 0; index < 90; index += 1) await store.set(secret(`KEY_${index}`, String(index)));
    });
    let transactions = 0;
    const failing = (records: RecordStore): RecordStore =>
      Object.assign(Object.create(records) as RecordStore, {
        readRevision: () => records.readRevision(),
        fetchSince: (revision: number, kind?: string) => records.fetchSince(revision, kind),
        onChange: (listener: RecordListener) => records.onChange(listener),
        transact: async (changes: Parameters<RecordStore["transact"]>[0]) => {
          transactions += 1;
          if (transactions > 1) throw new Error("interrupted");
          return records.transact(changes);
        },
      });
    await withStore({ directory, decorate: failing }, (store) => expect(store.rotateKey()).rejects.toThrow("interrupted"));
    const keys = () => readFile(path.join(directory, "secrets.key"), "utf8");
    expect((await keys()).trim().split("\n")).toHaveLength(2);
    await withStore({ directory }, async (store) => expect(valuesOf(store)).toMatchObject({ KEY_0: "0", KEY_89: "89" }));
    expect((await keys()).trim().split("\n")).toHaveLength(1);
  });
});

describe("the limits for secrets of a namespace and its workers", () => {
  test("reject the 1001st secret and change nothing", async () => {
    const directory = await temporaryDirectory();
    await withStore({ directory }, async (store, changed) => {
      for (let index = 0; index < 999; index += 1) await store.set(secret(`KEY_${index}`, "x", `@team/w${index % 10}`));
      // Of 100 simultaneous secrets, only one is within the limit.
      const results = await Promise.allSettled(Array.from({ length: 100 }, (_, index) => store.set(secret(`LAST_${index}`, "x", "@team"))));
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      changed.length = 0;
      const further = [
        secret("NEW", "x", "@team"),
        secret("NEW", "x", "@team/w0"),
        secret("NEW", "x", "@team/other"),
        { ...secret("KEY_0", "staged", "@team/w0"), isStaged: true },
      ];
      for (const one of further) await expect(store.set(one)).rejects.toMatchObject({ code: "TOO_MANY_SECRETS" });
      expect(changed).toEqual([]);
      expect(store.list("@team/other").map(({ name }) => name)).toEqual(store.list("@team").map(({ name }) => name));
      expect(store.environmentOf("@team/w0", manifest)).not.toHaveProperty("NEW");

      await store.set(secret("KEY_0", "replaced", "@team/w0"));
      await store.set(secret("NEW", "x", "@another"));
      await store.set(secret("NEW", "x", "@team2/shop"));
      await store.set(secret("NEW", "x", "shop"));
      await store.remove("@team/w0", "KEY_0", { isForced: true });
      await store.set(secret("NEW", "x", "@team/other"));
    });
  });

  test("reject values above 1 MB in total and change nothing", async () => {
    const directory = await temporaryDirectory();
    await withStore({ directory }, async (store, changed) => {
      for (let index = 0; index < 16; index += 1) await store.set(secret("BIG", "x".repeat(64 * 1024), `@team/w${index}`));
      changed.length = 0;
      await expect(store.set(secret("NEW", "x", "@team"))).rejects.toMatchObject({ code: "TOO_MANY_SECRETS" });
      expect([changed, store.list("@team")]).toEqual([[], []]);
      await store.set(secret("BIG", "y".repeat(64 * 1024), "@team/w0"));
      await store.set(secret("BIG", "x", "@team/w1"));
      await store.set(secret("NEW", "x", "@team"));
    });
  });
});

test("a failed upload restores the old secret unless another client changed the secret", async () => {
  const directory = await temporaryDirectory();
  await withStore({ directory }, async (store, changed) => {
    await store.set(secret("A", "old"));
    await store.set({ ...secret("A", "new"), isStaged: true });
    await store.set({ ...secret("B", "only staged"), isStaged: true });
    changed.length = 0;
    const revert = await store.applyStaged("@team/shop");
    expect(valuesOf(store)).toEqual({ A: "new", B: "only staged" });
    await revert();
    expect(valuesOf(store)).toEqual({ A: "old" });
    expect(store.list("@team/shop").map(({ name, staged }) => `${name} ${staged}`)).toEqual(["A false", "A true", "B true"]);
    expect(changed).toEqual([["@team/shop"], ["@team/shop"]]);
    const late = await store.applyStaged("@team/shop");
    await store.set(secret("A", "newest"));
    await late();
    expect(valuesOf(store)).toEqual({ A: "newest", B: "only staged" });
  });
});
