import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../", import.meta.url));

test("an isolate in an endless loop does not outlive a daemon that was killed", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "orphans-"));
  await cp(path.join(root, "test/fixtures/workers/faults"), folder, { recursive: true });
  const daemon = spawn(process.execPath, [path.join(root, "bench/warm-worker-server.mjs"), "worker", folder], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [port] = (await once(daemon, "message")) as [number];
  const pid = Number(await (await fetch(`http://127.0.0.1:${port}/app/pid`)).text());
  http.get({ host: "127.0.0.1", port, path: "/app/loop" }).on("error", () => undefined);
  // Both travel to the isolate in order: once the second waits too, the loop has begun or is about to.
  await once(
    http.get({ host: "127.0.0.1", port, path: "/app/ok" }).on("error", () => undefined),
    "finish",
  );
  daemon.kill("SIGKILL");
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
  await rm(folder, { recursive: true, force: true });
});
