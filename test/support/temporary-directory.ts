import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

/** Creates a folder that is deleted when the running test ends. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "runtimed-test-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
