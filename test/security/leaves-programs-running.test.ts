import { randomInt } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { connect } from "../support/connect.js";
import { startDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

/** Starts a program that leaves its session. `inherit` gives it the isolate's output. */
const attacker = `
import { spawn } from "node:child_process";
import { once } from "node:events";
export default { async fetch(request) {
  const query = new URL(request.url).searchParams;
  const child = spawn("/usr/bin/setsid", ["/bin/sleep", query.get("seconds")], { stdio: query.get("output") });
  await once(child, "spawn");
  child.unref();
  return new Response("started");
} };`;

async function isRunning(commandLine: string): Promise<boolean> {
  const lines = await Promise.all((await readdir("/proc")).map((pid) => readFile(`/proc/${pid}/cmdline`, "latin1").catch(() => "")));
  return lines.some((line) => line.replaceAll("\0", " ").trim() === commandLine);
}

describe.runIf(process.getuid?.() === 0)("a worker that runs programs with its own user ID", () => {
  test.each(["ignore", "inherit"])("has no running program after the daemon stops (stdio of the program: %s)", async (output) => {
    const daemon = await startDaemon({ directoryMode: 0o711, env: { RUNTIME_WORKER_PERMISSIONS: "network,child-process" } });
    const seconds = randomInt(100_000, 200_000);
    try {
      const files = { "index.js": attacker, "package.json": '{"type":"module"}' };
      await uploadWorker(connect(daemon.url, daemon.rootKey), "attacker", files, "permissions: [child-process]\n");
      expect(await (await fetch(`${daemon.url}/attacker/?seconds=${seconds}&output=${output}`)).text()).toBe("started");
      await expect.poll(() => isRunning(`/bin/sleep ${seconds}`)).toBe(true);
      expect(await daemon.stop()).toBe(0);
      expect(await isRunning(`/bin/sleep ${seconds}`)).toBe(false);
    } finally {
      await daemon.dispose();
    }
  });
});
