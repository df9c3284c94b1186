import { createHash, randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { LocalKeyStore } from "../../../src/server/access/local-key-store.js";
import { createLog } from "../../../src/server/log/log.js";
import { ArchiveCollector } from "../../../src/server/package-store/archive-collector.js";
import { OciBlobStore } from "../../../src/server/registry/oci-blob-store.js";
import { RegistryClient } from "../../../src/server/registry/registry-client.js";
import type { BlobStore } from "../../../src/server/registry/blob-store.js";
import { RegistryError } from "../../../src/server/registry/registry-error.js";
import type { Digest } from "../../../src/server/registry/verified-download.js";
import type { LeaseStore } from "../../../src/server/storage/lease-store.js";
import { startRegistry, type TestRegistry } from "../../support/start-registry.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const hourMs = 60 * 60_000;
const log = createLog({ level: "silent" });

let registry: TestRegistry;
let blobs: OciBlobStore;

beforeAll(async () => {
  registry = await startRegistry();
  blobs = new OciBlobStore(await RegistryClient.at({ origin: registry.url, repository: "runtimed", credential: () => undefined }));
});

afterAll(async () => {
  await blobs.close();
  await registry.dispose();
});

async function storeArchive(): Promise<Digest> {
  const bytes = randomBytes(1000);
  const digest: Digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const file = path.join(await temporaryDirectory(), "archive");
  await writeFile(file, bytes);
  await blobs.put({ digest, sizeBytes: bytes.length, file, mediaType: "application/octet-stream" });
  await rm(file);
  return digest;
}

/** Opens two collectors on the same records, like two daemons. `later` moves the time of both forward. */
async function open({ store = blobs, isShared = true }: { store?: BlobStore; isShared?: boolean } = {}) {
  const keys = new LocalKeyStore({ stateDirectory: await temporaryDirectory(), log });
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const { records } = keys;
  const leases: Pick<LeaseStore, "take" | "end" | "nowMs"> = {
    nowMs: now,
    take: (request) => keys.leases.take({ ...request, slotMs: request.slotMs - aheadMs }),
    end: (name, token, state, result) => keys.leases.end(name, token, state, result),
  };
  const options = { records, leases, blobs: store, isShared, log, now };
  const collectors = [new ArchiveCollector(options), new ArchiveCollector(options)] as const;
  onTestFinished(() => {
    for (const collector of collectors) collector.close();
    keys.close();
  });
  const release = async (digest: string) => void (await records.transact(collectors[0].changesFor(undefined, [digest])));
  return { collectors, records, release, later: (ms: number) => (aheadMs += ms) };
}

test("an archive without references is deleted after one day, and can be stored again", async () => {
  const { collectors, records, release, later } = await open();
  const digest = await storeArchive();
  await release(digest);
  later(23 * hourMs);
  await collectors[0].collect();
  expect(await blobs.has(digest)).toBe(true);
  later(2 * hourMs);
  await collectors[0].collect();
  expect(await blobs.has(digest)).toBe(false);
  expect(records.fetchSince(0).filter(({ value }) => value !== undefined)).toEqual([]);
  await collectors[1].keep(digest);
});

test("an archive that an upload or another package uses is kept", async () => {
  const referenced = await storeArchive();
  const { collectors, records, release, later } = await open();
  // A newer daemon has written this value, so this daemon cannot parse it.
  await records.transact([{ kind: "worker-version", key: "shop@1.0.0", value: JSON.stringify({ newFormat: [referenced] }) }]);
  const uploaded = await storeArchive();
  for (const digest of [referenced, uploaded]) await release(digest);
  later(25 * hourMs);
  // An upload of the same archive begins directly before the deletion.
  await collectors[1].keep(uploaded);
  await collectors[0].collect();
  expect([await blobs.has(referenced), await blobs.has(uploaded)]).toEqual([true, true]);
  await records.transact(collectors[1].changesFor(uploaded, []));
  expect(records.fetchSince(0).filter(({ value }) => value !== undefined)).toMatchObject([{ key: "shop@1.0.0" }]);
});

test("a daemon without a primary deletes no archive", async () => {
  const { collectors, release, later } = await open({ isShared: false });
  const digest = await storeArchive();
  await release(digest);
  later(25 * hourMs);
  await collectors[0].collect();
  expect(await blobs.has(digest)).toBe(true);
});

test("an archive whose deletion failed is deleted by another daemon one hour later", async () => {
  let failures = 1;
  const failing: BlobStore = {
    has: (digest) => blobs.has(digest),
    put: (blob) => blobs.put(blob),
    get: (blob, into) => blobs.get(blob, into),
    remove: (digest) => {
      failures -= 1;
      return failures >= 0 ? Promise.reject(new RegistryError("unexpected", "answered with status 500")) : blobs.remove(digest);
    },
    close: () => Promise.resolve(),
  };
  const { collectors, release, later } = await open({ store: failing });
  const digest = await storeArchive();
  await release(digest);
  later(25 * hourMs);
  await collectors[0].collect();
  expect(await blobs.has(digest)).toBe(true);
  later(hourMs);
  await collectors[1].collect();
  expect(await blobs.has(digest)).toBe(false);
});

test("an upload of an archive waits until a running deletion of the archive completes", async () => {
  const removing = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const slow: BlobStore = {
    has: (digest) => blobs.has(digest),
    put: (blob) => blobs.put(blob),
    get: (blob, into) => blobs.get(blob, into),
    remove: async (digest) => {
      begun.resolve();
      await removing.promise;
      return blobs.remove(digest);
    },
    close: () => Promise.resolve(),
  };
  const { collectors, release, later } = await open({ store: slow });
  const digest = await storeArchive();
  await release(digest);
  later(25 * hourMs);
  const collecting = collectors[0].collect();
  await begun.promise;
  const steps: string[] = [];
  const keeping = collectors[1].keep(digest).then(() => steps.push("upload"));
  void collecting.then(() => steps.push("deletion"));
  removing.resolve();
  await Promise.all([collecting, keeping]);
  expect(steps).toEqual(["deletion", "upload"]);
  expect(await blobs.has(digest)).toBe(false);
});

test("the daemon sends no second deletion to a registry that cannot delete archives", async () => {
  let calls = 0;
  const refusing: BlobStore = {
    has: (digest) => blobs.has(digest),
    put: (blob) => blobs.put(blob),
    get: (blob, into) => blobs.get(blob, into),
    remove: () => {
      calls += 1;
      return Promise.resolve("unsupported");
    },
    close: () => Promise.resolve(),
  };
  const { collectors, release, later } = await open({ store: refusing });
  for (const digest of [await storeArchive(), await storeArchive()]) await release(digest);
  later(25 * hourMs);
  await collectors[0].collect();
  await collectors[0].collect();
  expect(calls).toBe(1);
});
