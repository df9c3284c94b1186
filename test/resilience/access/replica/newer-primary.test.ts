import { access } from "node:fs/promises";
import path from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test } from "vitest";
import { copyReplica } from "../../../../src/server/access/replica/copy-replica.js";
import { Primary } from "../../../../src/server/access/replica/primary-client.js";
import { NewerStateError } from "../../../../src/server/config/newer-state-error.js";
import { newKey, openReplicatedStore } from "../../../support/open-replicated-store.js";
import { startSqld, type Sqld } from "../../../support/start-sqld.js";

async function primaryWithKey(): Promise<Sqld> {
  const sqld = await startSqld();
  onTestFinished(() => sqld.dispose());
  const { store } = await openReplicatedStore(sqld.url);
  await store.create(newKey());
  return sqld;
}

/** Sets the schema like a newer runtimed does, with a revision so that replicas fetch it. */
async function setSchema({ url }: Sqld, schema: number): Promise<void> {
  const primary = await Primary.at({ url, token: undefined });
  await primary.write(
    { sql: "UPDATE key_store SET schema_version = ?1", values: [schema] },
    { sql: "INSERT INTO key_revisions SELECT max(revision) + 1, ?1, '' FROM key_revisions", values: [`of schema ${schema}`] },
  );
  await primary.close();
}

test("a key store fails to open when the primary has a newer schema", async () => {
  const sqld = await primaryWithKey();
  const { store, stateDirectory } = await openReplicatedStore(sqld.url);
  await store.close();
  await setSchema(sqld, 99);

  for (const options of [{}, { stateDirectory }])
    await expect(openReplicatedStore(sqld.url, options)).rejects.toThrow(
      /^The primary of the key store has schema 99, and this runtimed supports schemas up to 1: upgrade runtimed, or restore an older backup of the primary/,
    );
});

test("a key store keeps its keys but rejects changes after the primary is upgraded", async () => {
  const sqld = await primaryWithKey();
  const { store } = await openReplicatedStore(sqld.url);
  const keys = store.list();
  await setSchema(sqld, 99);

  await expect
    .poll(() => store.readState().problem)
    .toBe("the primary of the key store has schema 99, and this runtimed supports schemas up to 1: upgrade runtimed");

  expect(store.list()).toEqual(keys);
  await expect(store.create(newKey("refused"))).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE" });
  await setSchema(sqld, 1);
  await expect.poll(() => store.readState().isWritable).toBe(true);
});

test("a key store does not open a replica with a newer schema, and keeps the file", async () => {
  const sqld = await primaryWithKey();
  const { store, stateDirectory } = await openReplicatedStore(sqld.url);
  const file = path.join(stateDirectory, "replica/current/keys.db");
  await store.close();
  await sqld.kill();
  const replica = new Database(file);
  replica.exec("UPDATE key_store SET schema_version = 99");
  replica.close();

  await expect(openReplicatedStore(sqld.url, { stateDirectory })).rejects.toThrow(NewerStateError);
  expect(() => copyReplica(file, path.join(stateDirectory, "copy.db"))).toThrow(NewerStateError);

  await access(file);
});
