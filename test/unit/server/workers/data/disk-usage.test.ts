import {
  chmodSync,
  closeSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { measureDiskUsage } from "../../../../../src/server/workers/data/disk-usage.js";
import { temporaryDirectory } from "../../../../support/temporary-directory.js";

const kb = 1024;

describe("the disk usage of a folder", () => {
  it("is zero for a folder that is missing or empty", async () => {
    const folder = await temporaryDirectory();
    expect(measureDiskUsage(folder, [])).toEqual({ bytes: 0, entries: 0, largestFileBytes: 0 });
    expect(measureDiskUsage(path.join(folder, "missing"), [])).toEqual({ bytes: 0, entries: 0, largestFileBytes: 0 });
  });

  it("includes the blocks of all files, and 4 KB per entry", async () => {
    const folder = await temporaryDirectory();
    mkdirSync(path.join(folder, "a/b"), { recursive: true });
    writeFileSync(path.join(folder, "a/b/file"), Buffer.alloc(100 * kb, 1));
    writeFileSync(path.join(folder, "empty"), "");
    const { bytes, entries, largestFileBytes } = measureDiskUsage(folder, []);
    expect({ entries, largestFileBytes }).toEqual({ entries: 4, largestFileBytes: 100 * kb });
    expect(bytes).toBeGreaterThanOrEqual(100 * kb + 4 * 4 * kb);
    expect(bytes).toBeLessThan(100 * kb + 4 * 4 * kb + 16 * kb);
  });

  it("excludes the holes of a sparse file; the size of the largest file includes holes", async () => {
    const folder = await temporaryDirectory();
    const descriptor = openSync(path.join(folder, "sparse"), "w");
    ftruncateSync(descriptor, 1024 * 1024 * kb);
    closeSync(descriptor);
    const { bytes, largestFileBytes } = measureDiskUsage(folder, []);
    expect(bytes).toBeLessThan(64 * kb);
    expect(largestFileBytes).toBe(1024 * 1024 * kb);
  });

  it("includes a file with two hard links once, and follows no symbolic link", async () => {
    const [folder, elsewhere] = [await temporaryDirectory(), await temporaryDirectory()];
    writeFileSync(path.join(folder, "file"), Buffer.alloc(100 * kb, 1));
    linkSync(path.join(folder, "file"), path.join(folder, "second-name"));
    writeFileSync(path.join(elsewhere, "large"), Buffer.alloc(1024 * kb, 1));
    symlinkSync(elsewhere, path.join(folder, "link"));
    expect(measureDiskUsage(folder, []).bytes).toBeLessThan(150 * kb);
  });

  it("includes deleted files that a process still has open", async () => {
    const folder = await temporaryDirectory();
    const file = path.join(folder, "deleted");
    const descriptor = openSync(file, "w");
    writeSync(descriptor, Buffer.alloc(1024 * kb, 1));
    unlinkSync(file);
    expect(measureDiskUsage(folder, []).bytes).toBe(0);
    expect(measureDiskUsage(folder, [process.pid]).bytes).toBeGreaterThanOrEqual(1024 * kb);
    closeSync(descriptor);
  });

  it("includes folders that even their owner cannot read", async () => {
    const folder = await temporaryDirectory();
    mkdirSync(path.join(folder, "closed"));
    writeFileSync(path.join(folder, "closed/file"), Buffer.alloc(100 * kb, 1));
    chmodSync(path.join(folder, "closed"), 0o300);
    expect(measureDiskUsage(folder, []).bytes).toBeGreaterThanOrEqual(100 * kb);
  });
});
