import { expect, onTestFinished, test, vi } from "vitest";
import { ArchiveStore } from "../../../../src/server/package-store/archive-store.js";
import type { BlobStore } from "../../../../src/server/registry/blob-store.js";
import { RegistryError } from "../../../../src/server/registry/registry-error.js";

test("the check of the registry returns at once while the registry does not respond", async () => {
  const response = Promise.withResolvers<boolean>();
  const has = vi.fn(() => response.promise);
  const archives = new ArchiveStore({ has } as unknown as BlobStore, () => Promise.resolve());

  expect([archives.problem(), archives.problem()]).toEqual([undefined, undefined]);
  response.reject(new Error("sent or received nothing for 2 s"));

  await vi.waitFor(() => expect(archives.problem()).toBe("the registry sent or received nothing for 2 s"));
  expect(has).toHaveBeenCalledTimes(1);
});

test("the registry check reports a failed download until a later check succeeds", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const blobs = { has: () => Promise.resolve(false), get: () => Promise.reject(RegistryError.late(2000)) };
  const archives = new ArchiveStore(blobs as unknown as BlobStore, () => Promise.resolve());
  const archive = { digest: `sha256:${"1".repeat(64)}`, sizeBytes: 1, format: "tar" } as const;

  await expect(archives.fetch(archive, "site", "file")).rejects.toMatchObject({ code: "PACKAGE_UNAVAILABLE" });
  expect(archives.problem()).toBe("the registry sent or received nothing for 2 s");

  vi.advanceTimersByTime(10_001);
  archives.problem();
  await vi.waitFor(() => expect(archives.problem()).toBeUndefined());
});

test("a verbose readiness check can wait for the first check of the registry", async () => {
  const response = Promise.withResolvers<boolean>();
  const has = vi.fn(() => response.promise);
  const archives = new ArchiveStore({ has } as unknown as BlobStore, () => Promise.resolve());

  const checks = [archives.check(), archives.check()];
  response.reject(RegistryError.late(2000));
  await Promise.all(checks);

  expect(archives.problem()).toBe("the registry sent or received nothing for 2 s");
  expect(has).toHaveBeenCalledTimes(1);
});
