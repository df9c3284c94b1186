import { expect, test } from "vitest";
import { ApiError } from "../../../../src/shared/api-error.js";
import { DiskSpace } from "../../../../src/server/health/disk-space.js";

const gigabyte = 1024 ** 3;

function createDisk(free: Readonly<Record<string, [freeBytes: number, totalBytes: number]>>) {
  const clock = { nowMs: 1_800_000_000_000 };
  const disk = new DiskSpace({
    directories: [
      { kind: "state", path: "/state" },
      { kind: "workers", path: "/workers" },
    ],
    statfs: async (path) => {
      const [freeBytes, totalBytes] = free[path] ?? [];
      if (freeBytes === undefined || totalBytes === undefined) throw new Error("ENOENT");
      return { bavail: freeBytes / 512, blocks: totalBytes / 512, bsize: 512 };
    },
    now: () => clock.nowMs,
  });
  return { disk, clock };
}

test.each<[about: string, freeBytes: number, totalBytes: number, status: string]>([
  ["10 % and 1 GiB are free", gigabyte, 10 * gigabyte, "ok"],
  ["less than 10 % is free", 9 * gigabyte, 100 * gigabyte, "degraded"],
  ["less than 1 GiB is free", gigabyte - 512, 2 * gigabyte, "degraded"],
])("the check `disk-space` has the expected status when %s", async (_about, freeBytes, totalBytes, status) => {
  const { disk } = createDisk({ "/state": [freeBytes, totalBytes], "/workers": [50 * gigabyte, 50 * gigabyte] });
  expect(await disk.check()).toMatchObject({ name: "disk-space", status });
});

test("the check `disk-space` names the directory, the free space and the consequence", async () => {
  const { disk } = createDisk({ "/workers": [512 * 1024 ** 2, 20 * gigabyte] });
  expect(await disk.check()).toEqual({
    name: "disk-space",
    status: "degraded",
    message: "/workers has 512.0 MB of 20.0 GB free. When it is full, uploads of workers fail. Free disk space.",
  });
});

test.each([
  ["a call", new ApiError("INSUFFICIENT_STORAGE", "The disk is full.")],
  ["the log", Object.assign(new Error("no space"), { code: "ENOSPC" })],
])("the check `disk-space` is degraded for 10 min after a failed write (writer: %s)", async (_writer, error) => {
  const { disk, clock } = createDisk({ "/state": [50 * gigabyte, 50 * gigabyte] });
  disk.noteError(new Error("another error"));
  expect(await disk.check()).toEqual({ name: "disk-space", status: "ok" });
  disk.noteError(error);
  clock.nowMs += 10 * 60_000 - 1;
  expect(await disk.check()).toMatchObject({
    status: "degraded",
    message: expect.stringMatching(/^A write failed 10 min ago .*\/state has/),
  });
  clock.nowMs += 1;
  expect(await disk.check()).toEqual({ name: "disk-space", status: "ok" });
});
