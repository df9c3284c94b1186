import { readdir } from "node:fs/promises";
import { expect, vi } from "vitest";
import { treeDigest } from "./tree-digest.js";

/** Returns a hash of a worker directory after background deletions have ended. */
export async function settledDigest(directory: string): Promise<string> {
  await vi.waitFor(async () => expect(await readdir(directory)).not.toContain(".staging"), { timeout: 15_000, interval: 5 });
  return treeDigest(directory);
}
