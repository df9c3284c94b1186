import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { ProcessLock } from "../../../src/server/platform/process-lock.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const program = new URL("../../../build/server/platform/process-lock.js", import.meta.url).href;

/** Starts a process that tries to take a lock, prints the result and keeps running. */
async function holder(file: string): Promise<{ got: string; kill: () => Promise<unknown> }> {
  const script = `import { ProcessLock } from ${JSON.stringify(program)};
globalThis.lock = ProcessLock.take(${JSON.stringify(file)});
process.stdout.write(globalThis.lock ? "held" : "refused");
setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const [got] = (await once(child.stdout, "data")) as [Buffer];
  return {
    got: got.toString(),
    kill: () => {
      child.kill("SIGKILL");
      return exited;
    },
  };
}

test("only one of four processes locks a file, until the lock's owner is killed", async () => {
  const directory = await temporaryDirectory();
  const file = path.join(directory, "lock");
  const holders = await Promise.all(Array.from({ length: 4 }, () => holder(file)));
  try {
    expect(holders.map(({ got }) => got).toSorted()).toEqual(["held", "refused", "refused", "refused"]);
    expect(ProcessLock.take(file)).toBeUndefined();
    expect(ProcessLock.isHeld(file)).toBe(true);
    await holders.find(({ got }) => got === "held")?.kill();
    expect(ProcessLock.isHeld(file)).toBe(false);
    const lock = ProcessLock.take(file);
    expect(lock).toBeDefined();
    lock?.release();
    expect(await readdir(directory)).toEqual(["lock"]);
  } finally {
    await Promise.all(holders.map(({ kill }) => kill()));
  }
});

test("a missing lock file counts as unlocked and is not created", async () => {
  const directory = await temporaryDirectory();
  expect(ProcessLock.isHeld(path.join(directory, "none"))).toBe(false);
  expect(await readdir(directory)).toEqual([]);
});
