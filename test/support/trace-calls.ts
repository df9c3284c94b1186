import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";

/** Calls that change files or report changes. strace ignores names that the machine does not have. */
const changingCalls =
  "rename renameat renameat2 mkdir mkdirat openat unlink unlinkat rmdir link linkat symlink write writev pwrite64 pwritev ftruncate fallocate fsync fdatasync chmod fchmod sendfile copy_file_range sendto sendmsg".split(
    " ",
  );

/**
 * The threads to trace: the JavaScript thread, all other threads, which run asynchronous work, or all threads including those that start
 * later.
 */
export type ThreadRole = "main" | "other" | "all";

/** The system call that SIGKILL replaces: the call number `count` among those with the name `call`. */
export interface KillAt {
  readonly call: string;
  readonly count: number;
}

export interface CallTrace {
  /** Ends the trace but not the program. Resolves with the count of each call. */
  readonly stop: () => Promise<Map<string, number>>;
}

/**
 * Attaches strace to threads of a process. Resolves when strace is attached. With `killAt`, SIGKILL replaces the n-th such call of one of
 * these threads.
 */
export async function traceCalls(options: { pid: number; role: ThreadRole; output: string; killAt?: KillAt }): Promise<CallTrace> {
  const { pid, role, output, killAt } = options;
  const threads = threadsOf(pid, role);
  const child = spawn(
    "strace",
    [...straceOptions(killAt), ...(role === "all" ? ["-f"] : []), "-o", output, ...threads.flatMap((thread) => ["-p", thread])],
    {
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  const ended = once(child, "close");
  await new Promise<void>((resolve, reject) => {
    let complaint = "";
    child.stderr.on("data", (chunk: Buffer) => {
      complaint += chunk.toString();
      if (complaint.split(" attached").length > threads.length) resolve();
    });
    child.on("error", () => reject(new Error("strace is not installed; this test needs it (apt install strace)")));
    child.on("close", () => reject(new Error(`strace cannot watch a process here: ${complaint}`)));
  });
  return {
    stop: async () => {
      child.kill("SIGINT");
      await ended;
      return countsIn(output);
    },
  };
}

function threadsOf(pid: number, role: ThreadRole): string[] {
  if (role === "all") return [String(pid)];
  return readdirSync(`/proc/${pid}/task`).filter((thread) => (thread === String(pid)) === (role === "main"));
}

/** Returns options by which strace traces changing calls. With `killAt`, it traces only that call and sends SIGKILL instead of it. */
export function straceOptions(killAt: KillAt | undefined): string[] {
  const calls = killAt ? [killAt.call] : changingCalls;
  const inject = killAt ? [`--inject=${killAt.call}:signal=SIGKILL:when=${killAt.count}`] : [];
  return [`--trace=${calls.map((call) => `?${call}`).join(",")}`, ...inject];
}

/** Returns the count of each call: the highest count of one thread, because strace counts per thread. */
export function countsIn(file: string): Map<string, number> {
  const counts = new Map<string, number>();
  const ofThreads = new Map<string, number>();
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [, thread = "", call] = /^(?:(\d+) +)?(\w+)\(/.exec(line) ?? [];
    if (call === undefined) continue;
    const key = `${thread} ${call}`;
    const count = (ofThreads.get(key) ?? 0) + 1;
    ofThreads.set(key, count);
    counts.set(call, Math.max(counts.get(call) ?? 0, count));
  }
  return counts;
}
