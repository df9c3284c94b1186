import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { constants, getPriority } from "node:os";
import { expect, onTestFinished, test } from "vitest";
import { canRaisePriority } from "../../../src/server/platform/process-priority.js";
import { StandbyStart } from "../../../src/server/workers/isolates/standby-isolates.js";
import type { IsolateProcess } from "../../../src/server/workers/isolates/isolate-process.js";

const ownNiceness = getPriority();
/** A daemon without permission to raise priorities does not lower the priority of an isolate. */
const yieldedNiceness = canRaisePriority() ? constants.priority.PRIORITY_LOW : ownNiceness;

/** Begins a start with a real idle process as the isolate. The isolate is ready when `ready` is called. */
async function begin() {
  const child = spawn(process.execPath, ["-e", "process.stdout.write('up'); setInterval(() => {}, 1000);"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let ready!: () => void;
  const isReady = new Promise<void>((resolve) => (ready = resolve));
  const isolate = { pid: child.pid, ready: isReady } as unknown as IsolateProcess;
  await once(child.stdout, "data"); // All threads of the process run now, so the priority of each must be lowered.
  const start = new StandbyStart(() => Promise.resolve(isolate));
  await Promise.resolve();
  return { start, isolate, ready, niceness: () => nicenessOf(child.pid as number) };
}

/** Niceness of all threads: field 19 in proc_pid_stat(5). */
function nicenessOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const found = threads.map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8").split(") ")[1]?.split(" ")[16]));
  expect(found.length).toBeGreaterThan(1);
  return [...new Set(found)];
}

test("the threads of a standby isolate have low priority until the isolate is ready", async () => {
  const { start, isolate, ready, niceness } = await begin();
  expect(niceness()).toEqual([yieldedNiceness]);
  ready();
  expect(await start.isolate).toBe(isolate);
  expect(niceness()).toEqual([ownNiceness]);
});

test("a standby isolate gets normal priority when a request waits for the isolate", async () => {
  const { start, niceness } = await begin();
  start.raisePriority();
  expect(niceness()).toEqual([ownNiceness]);
});

test("a standby isolate starts with normal priority when a request already waits", async () => {
  let spawned!: (isolate: IsolateProcess) => void;
  const start = new StandbyStart(() => new Promise((resolve) => (spawned = resolve)));
  start.raisePriority();
  spawned({ pid: process.pid, ready: Promise.resolve() } as unknown as IsolateProcess);
  await start.isolate;
  expect(getPriority()).toBe(ownNiceness);
});
