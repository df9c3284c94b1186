import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp } from "node:fs/promises";
import { existsSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { connect } from "../../support/connect.js";
import { runRuntimectl } from "../../support/run-runtimectl.js";
import { startDaemon } from "../../support/start-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { treeDigest } from "../../support/tree-digest.js";
import { writeTree } from "../../support/write-tree.js";

const kills = 8;
/** Share of the undisturbed duration: some kills come after the end. */
const latestKillShare = 1.3;
const program = path.join(import.meta.dirname, "../../../dist/server/backup/main.js");

const variables = (home: string) => ({
  RUNTIME_STATE_DIR: path.join(home, "state"),
  RUNTIME_WORKER_DIRS: path.join(home, "workers"),
  RUNTIME_PLUGIN_DIRS: path.join(home, "plugins"),
});

/** Runs the program of the commands and kills it within that time. Returns whether it had completed. */
async function killedWhile(
  action: "backup" | "restore",
  { file, home, latestMs }: { file: string; home: string; latestMs: number },
): Promise<boolean> {
  const child = spawn(process.execPath, [program, JSON.stringify({ action, file, variables: variables(home) })], { stdio: "ignore" });
  const ended = once(child, "close");
  await Promise.race([ended, delay(Math.random() * latestMs)]);
  child.kill("SIGKILL");
  const [exitCode] = (await ended) as [number | null];
  return exitCode === 0;
}

const restoreDryRun = async (file: string, home: string) => {
  const places = ["--state-dir", `${home}/state`, "--worker-dirs", `${home}/workers`, "--plugin-dirs", `${home}/plugins`];
  return await runRuntimectl({ url: "http://127.0.0.1:9", rootKey: "", directory: home }, [
    "daemon",
    "restore",
    file,
    "--dry-run",
    ...places,
  ]);
};

test(
  `${kills} kills of a backup and of a restore leave no incomplete files`,
  {
    timeout: 240_000,
  },
  async () => {
    const home = await temporaryDirectory();
    const filling = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`app/1.0.0/part-${index}.txt`, "x".repeat(5000)]));
    await writeTree(path.join(home, "workers"), { "app/1.0.0/manifest.yaml": "name: app\nversion: 1.0.0\n", ...filling });
    const first = await startDaemon({ directory: home });
    const client = connect(first.url, first.rootKey);
    await client.keys.create({ body: { name: "in the backup", role: "viewer" } });
    const backup = path.join(await temporaryDirectory(), "backup.tgz");
    const startedAtMs = performance.now();
    expect(await killedWhile("backup", { file: backup, home, latestMs: 1e9 })).toBe(true);
    const latestMs = (performance.now() - startedAtMs) * latestKillShare;
    expect((await restoreDryRun(backup, home)).stderr).toContain("DAEMON_RUNNING");
    await client.keys.create({ body: { name: "newer", role: "viewer" } });
    await first.stop();
    await writeTree(path.join(home, "workers"), { "newer/1.0.0/manifest.yaml": "name: newer\nversion: 1.0.0\n" });
    const before = await treeDigest(path.join(home, "workers"));

    for (let kill = 0; kill < kills; kill += 1) {
      const file = path.join(path.dirname(backup), `${kill}.tgz`);
      const isDone = await killedWhile("backup", { file, home, latestMs });
      if (isDone) expect(existsSync(file)).toBe(true);
      if (existsSync(file)) expect(await restoreDryRun(file, home)).toMatchObject({ status: 0 });
      expect(await treeDigest(path.join(home, "workers"))).toBe(before);
    }

    for (let kill = 0; kill < kills; kill += 1) {
      const copy = await temporaryDirectory();
      await cp(home, copy, { recursive: true });
      const isDone = await killedWhile("restore", { file: backup, home: copy, latestMs });
      const daemon = await startDaemon({ directory: copy });
      const again = connect(daemon.url, daemon.rootKey);
      const keys = (await again.keys.list()).keys.map(({ name }) => name);
      const workers = (await again.workers.list()).filter(({ source }) => source === "uploaded").map(({ name }) => name);
      await daemon.dispose();
      const isNew = keys.length === 1;
      if (isDone) expect(isNew).toBe(true);
      expect(keys.toSorted()).toEqual(isNew ? ["in the backup"] : ["in the backup", "newer"]);
      expect(workers.toSorted()).toEqual(isNew ? ["app"] : ["app", "newer"]);
    }
  },
);
