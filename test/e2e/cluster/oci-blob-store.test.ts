import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OciBlobStore } from "../../../src/server/registry/oci-blob-store.js";
import { RegistryClient } from "../../../src/server/registry/registry-client.js";
import type { Digest } from "../../../src/server/registry/verified-download.js";
import { startRegistry, type TestRegistry } from "../../support/start-registry.js";

const mediaType = "application/vnd.runtimed.package.v1.tar+gzip";
const megabyte = 1024 * 1024;

let registry: TestRegistry;
let store: OciBlobStore;
let directory: string;

beforeAll(async () => {
  [registry, directory] = await Promise.all([startRegistry(), mkdtemp(path.join(tmpdir(), "blobs-"))]);
  store = await open(registry.url);
});

afterAll(async () => {
  await store.close();
  await registry.dispose();
  await rm(directory, { recursive: true, force: true });
});

const open = async (origin: string) =>
  new OciBlobStore(await RegistryClient.at({ origin, repository: "team/runtimed", credential: () => undefined }));

async function newBlob(sizeBytes: number) {
  const bytes = randomBytes(sizeBytes);
  const digest: Digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  const file = path.join(directory, digest);
  await writeFile(file, bytes);
  return { digest, sizeBytes, file, mediaType, into: `${file}.received` };
}

test("the blob store returns a stored blob with the same bytes", async () => {
  for (const sizeBytes of [1, 100_000, 5 * megabyte]) {
    const blob = await newBlob(sizeBytes);
    expect(await store.has(blob.digest)).toBe(false);
    await store.put(blob);
    expect(await store.has(blob.digest)).toBe(true);
    await store.put(blob);
    await store.get(blob, blob.into);
    expect((await readFile(blob.into)).equals(await readFile(blob.file))).toBe(true);
  }
});

test("the garbage collection of the registry keeps a stored blob", async () => {
  const blob = await newBlob(1000);
  await store.put(blob);
  await registry.collectGarbage();
  await store.get(blob, blob.into);
});

test("the upload of a missing file fails, and the next upload succeeds", async () => {
  const blob = await newBlob(1000);
  await expect(store.put({ ...blob, file: `${blob.file}.missing` })).rejects.toThrow();
  await store.put(blob);
});

test("a removed blob cannot be downloaded, and can be stored again", async () => {
  const blob = await newBlob(1000);
  await store.put(blob);
  expect(await store.remove(blob.digest)).toBe("removed");
  expect(await store.has(blob.digest)).toBe(false);
  await expect(store.get(blob, blob.into)).rejects.toMatchObject({ kind: "missing" });
  expect(await store.remove(blob.digest)).toBe("removed");
  await store.put(blob);
  await store.get(blob, blob.into);
});

test("the download of a changed or truncated blob fails and leaves no file", async () => {
  const changed = await newBlob(10_000);
  await store.put(changed);
  await writeFile(registry.blobFile(changed.digest), randomBytes(10_000));
  await expect(store.get(changed, changed.into)).rejects.toMatchObject({ kind: "wrong-content" });
  const cut = await newBlob(10_000);
  await store.put(cut);
  await truncate(registry.blobFile(cut.digest), 1000);
  await expect(store.get(cut, cut.into)).rejects.toMatchObject({ kind: "wrong-content" });
  expect([changed.into, cut.into].filter((file) => existsSync(file))).toEqual([]);
});

test("a call to a frozen registry fails after 2 s; a call after the freeze succeeds", async () => {
  const blob = await newBlob(1000);
  await store.put(blob);
  const other = await newBlob(1000);
  await registry.freeze();
  const begun = performance.now();
  const results = await Promise.allSettled([store.has(blob.digest), store.put(other), store.get(blob, blob.into)]);
  registry.thaw();
  expect(performance.now() - begun).toBeLessThan(3500);
  for (const result of results) expect(result).toMatchObject({ status: "rejected", reason: { kind: "late" } });
  await store.get(blob, blob.into);
});

test("a call to a stopped registry fails, and succeeds after its restart", async () => {
  const blob = await newBlob(1000);
  await store.put(blob);
  await registry.kill();
  await expect(store.get(blob, blob.into)).rejects.toMatchObject({ kind: "unreachable" });
  await registry.restart();
  await store.get(blob, blob.into);
});
