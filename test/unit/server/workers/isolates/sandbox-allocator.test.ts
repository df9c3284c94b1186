import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pino from "pino";
import { expect, onTestFinished, test } from "vitest";
import { SandboxAllocator } from "../../../../../src/server/workers/isolates/sandbox-allocator.js";

const needs = { memoryBytes: 1, permissions: [], network: { mode: "all" as const, allowsLoopback: false, allow: [] }, name: "" };

test("the allocator creates and deletes a separate sandbox folder for each isolate", async () => {
  const directory = await mkdtemp(path.join(tmpdir(), "sandbox-folders-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const allocator = new SandboxAllocator({ slotsDirectory: path.join(directory, "slots"), log: pino({ level: "silent" }) });
  const slots = (await Promise.all(Array.from({ length: 5 }, () => allocator.allocate(needs)))).map(({ slot }) => slot);
  expect(new Set(slots.map((slot) => slot.path)).size).toBe(5);
  const [gone, ...others] = slots;
  await gone?.remove();
  for (const slot of others) expect((await stat(slot.path)).isDirectory()).toBe(true);
});
