import { expect, test, vi } from "vitest";
import { ArchiveStore } from "../../../../src/server/package-store/archive-store.js";
import type { BlobStore } from "../../../../src/server/registry/blob-store.js";

test("the check of the registry returns at once while the registry does not respond", async () => {
  const response = Promise.withResolvers<boolean>();
  const has = vi.fn(() => response.promise);
  const archives = new ArchiveStore({ has } as unknown as BlobStore, () => Promise.resolve());

  expect([archives.problem(), archives.problem()]).toEqual([undefined, undefined]);
  response.reject(new Error("sent or received nothing for 2 s"));

  await vi.waitFor(() => expect(archives.problem()).toBe("the registry sent or received nothing for 2 s"));
  expect(has).toHaveBeenCalledTimes(1);
});
