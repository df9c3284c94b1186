import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Sends SIGKILL and waits for the exit. Does nothing if the process has ended. */
export async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

/** Sends SIGSTOP and waits until it affects each thread. A thread runs until it handles the signal. */
export async function freezeProcess(child: ChildProcess): Promise<void> {
  child.kill("SIGSTOP");
  while (!isStopped(child.pid as number)) await delay(1);
}

function isStopped(pid: number): boolean {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.every((thread) => /\) T /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8")));
}
