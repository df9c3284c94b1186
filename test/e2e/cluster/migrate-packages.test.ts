import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { runRuntimectl } from "../../support/run-runtimectl.js";
import type { TestInstance } from "../../support/start-instances.js";
import {
  clusterTestMs,
  expectSoon,
  readText,
  startOciInstances,
  uploadText,
  type OciInstances,
} from "../../support/start-oci-instances.js";
import { startSqld } from "../../support/start-sqld.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { treeDigest } from "../../support/tree-digest.js";

const program = path.join(import.meta.dirname, "../../../dist/server/backup/main.js");
const kills = 6;
const versionsToMove = 12;

let instances: OciInstances;

beforeAll(async () => {
  instances = await startOciInstances();
});

afterAll(() => instances.dispose());

const homeOf = (name: string) => path.dirname(instances.workersOf(name));

/** Starts a daemon that keeps its packages in its directories. */
const startBefore = (name: string) => instances.start(name, { RUNTIME_PACKAGE_STORE: "directory" });

/** Writes the files of daemons of the previous version, which shared the directories. */
async function writeSharingFiles(name: string): Promise<void> {
  for (const kind of ["workers", "plugins"]) {
    const folder = path.join(homeOf(name), kind, ".instances");
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "changes"), '{"log":"x","number":1}\n');
    await writeFile(path.join(folder, "0123456789abcdef.instance"), "");
  }
}

async function sharingFilesOf(name: string): Promise<string[]> {
  const names = await Promise.all(["workers", "plugins"].map((kind) => readdir(path.join(homeOf(name), kind, ".instances"))));
  return names.flat().filter((each) => each !== "lock");
}

const placesOf = (home: string) => [
  "--state-dir",
  path.join(home, "state"),
  "--worker-dirs",
  path.join(home, "workers"),
  "--plugin-dirs",
  path.join(home, "plugins"),
];

const runMigration = (name: string, words: readonly string[], { primary = instances.sqld.url, store = storeOf() } = {}) => {
  const places = [...placesOf(homeOf(name)), "--primary", primary, "--store", store];
  const daemon = { url: "http://127.0.0.1:9", rootKey: "", directory: homeOf(name) };
  return runRuntimectl(daemon, ["daemon", "migrate-packages", ...places, "--yes", "--json", ...words]);
};

const storeOf = () => `oci:${instances.registry.url}/team/runtimed`;

async function uploadPlugin({ client }: TestInstance, name: string, text: string): Promise<void> {
  const code = `export default { routes: { fetch: () => new Response(${JSON.stringify(text)}) } };`;
  const files = { "manifest.yaml": manifestOf(name, "1.0.0", `base: /${name}\n`), "plugin.js": code };
  await client.plugins.upload({ file: uploadOf("plugin.tgz", await packFiles(files)) });
}

const inodeOf = async (name: string, file: string) => (await stat(path.join(homeOf(name), file))).ino;

test(
  "`daemon migrate-packages` moves packages to a registry; all daemons serve them",
  async () => {
    const before = await startBefore("a");
    await uploadText(before, "shop", "1.0.0", "one");
    await uploadText(before, "shop", "2.0.0", "two");
    await uploadText(before, "@team/blog", "1.0.0", "blog");
    await before.client.workers.disable({ params: { scope: "_", name: "shop", version: "2.0.0" } });
    await uploadPlugin(before, "greeter", "hello");
    const installs = (await before.client.workers.list()).find(({ name }) => name === "@team/blog")?.installs;
    expect(await runMigration("a", [])).toMatchObject({ status: 7, stderr: expect.stringContaining("DAEMON_RUNNING") });
    await before.stop();
    await writeSharingFiles("a");
    await expect(instances.start("a")).rejects.toThrow("runtimectl daemon migrate-packages");
    const untouched = await treeDigest(homeOf("a"));

    const dryRun = await runMigration("a", ["--dry-run"]);

    expect(dryRun.status).toBe(0);
    expect(JSON.parse(dryRun.stdout)).toEqual({
      dryRun: true,
      store: storeOf(),
      workers: 3,
      plugins: 1,
      present: 0,
      local: [],
    });
    expect(await treeDigest(homeOf("a"))).toBe(untouched);
    const inode = await inodeOf("a", "workers/shop/1.0.0/index.js");

    const migrated = await runMigration("a", []);

    expect(migrated).toMatchObject({ status: 0 });
    expect(JSON.parse(migrated.stdout)).toMatchObject({ dryRun: false, workers: 3, plugins: 1, present: 0, local: [] });
    expect(await sharingFilesOf("a")).toEqual([]);
    expect(JSON.parse((await runMigration("a", [])).stdout)).toMatchObject({ workers: 0, plugins: 0, present: 4 });
    const [a, c] = [await instances.start("a"), await instances.start("c")];
    for (const daemon of [a, c]) {
      await expectSoon(daemon, "shop", "one");
      await expectSoon(daemon, "@team/blog", "blog");
      await expectSoon(daemon, "greeter", "hello");
      const list = await daemon.client.workers.list();
      expect(list.find(({ name }) => name === "shop")).toMatchObject({ versions: ["2.0.0", "1.0.0"], disabledVersions: ["2.0.0"] });
      expect(list.find(({ name }) => name === "@team/blog")?.installs).toEqual(installs);
      expect(list.some(({ localVersions }) => localVersions)).toBe(false);
    }
    expect(await inodeOf("a", "workers/shop/1.0.0/index.js")).toBe(inode);
    await uploadText(c, "shop", "1.0.0", "one from c");
    await expectSoon(a, "shop", "one from c");
  },
  clusterTestMs,
);

test(
  `\`daemon migrate-packages\` moves all packages even after ${kills} kills`,
  async () => {
    const before = await startBefore("k");
    const names = Array.from({ length: versionsToMove }, (_, index) => `killed-${index}`);
    for (const name of names) await uploadText(before, name, "1.0.0", name);
    await uploadPlugin(before, "killed-plugin", "plugin");
    await before.stop();
    await writeSharingFiles("k");
    const files = await readdir(path.join(homeOf("k"), "workers"));
    const variables = {
      RUNTIME_STATE_DIR: path.join(homeOf("k"), "state"),
      RUNTIME_WORKER_DIRS: instances.workersOf("k"),
      RUNTIME_PLUGIN_DIRS: path.join(homeOf("k"), "plugins"),
      RUNTIME_AUTH_DB_MODE: "sync",
      RUNTIME_AUTH_DB_SYNC_URL: instances.sqld.url,
      RUNTIME_PACKAGE_STORE: storeOf(),
    };
    let cut = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const child = spawn(process.execPath, [program, JSON.stringify({ action: "migrate-packages", file: "", variables })], {
        stdio: "ignore",
      });
      const ended = once(child, "close");
      await Promise.race([ended, delay(300 + Math.random() * 900)]);
      child.kill("SIGKILL");
      const [exitCode] = (await ended) as [number | null];
      if (exitCode === null) {
        cut += 1;
        await expect(instances.start("k")).rejects.toThrow("runtimectl daemon migrate-packages");
      }
    }
    expect(cut, "some kills must interrupt a migration").toBeGreaterThan(0);

    const migrated = await runMigration("k", []);

    expect(migrated).toMatchObject({ status: 0 });
    const { workers, plugins, present } = JSON.parse(migrated.stdout) as { workers: number; plugins: number; present: number };
    expect(workers + plugins + present).toBe(versionsToMove + 1);
    expect((await readdir(path.join(homeOf("k"), "workers"))).toSorted()).toEqual(files.toSorted());
    expect(await sharingFilesOf("k")).toEqual([]);
    const [k, other] = [await instances.start("k"), await instances.start("l")];
    for (const daemon of [k, other]) {
      for (const name of names) await expectSoon(daemon, name, name);
      await expectSoon(daemon, "killed-plugin", "plugin");
    }
  },
  clusterTestMs,
);

test(
  "`daemon migrate-packages` keeps unmovable packages and names the reason",
  async () => {
    const before = await startBefore("p");
    await uploadText(before, "fine", "1.0.0", "fine");
    await before.stop();
    await writeSharingFiles("p");
    const workers = instances.workersOf("p");
    const write = async (folder: string, files: Record<string, string>) => {
      await mkdir(path.join(workers, folder), { recursive: true });
      for (const [name, text] of Object.entries(files)) await writeFile(path.join(workers, folder, name), text);
    };
    await write("bare", { "manifest.yaml": "name: bare\nversion: 1.0.0\n", "index.html": "bare" });
    await write("data/1.0.0", { "manifest.yaml": "name: data\nversion: 1.0.0\ndata: 10mb\n", "index.html": "data" });
    await write("linked/1.0.0", { "manifest.yaml": "name: linked\nversion: 1.0.0\n", "index.html": "linked" });
    await symlink("index.html", path.join(workers, "linked/1.0.0/link.html"));
    await write("broken/1.0.0", { "manifest.yaml": "name: [", "index.html": "broken" });

    const { status, stdout } = await runMigration("p", []);

    expect(status).toBe(7);
    const { workers: moved, local } = JSON.parse(stdout) as { workers: number; local: { name: string; reason: string }[] };
    expect(moved).toBe(1);
    expect(Object.fromEntries(local.map(({ name, reason }) => [name, reason]))).toEqual({
      bare: `move this folder to ${path.join(workers, "bare/1.0.0")}`,
      data: expect.stringContaining("data: { size: 10mb, scope: instance }"),
      linked: expect.stringContaining("symbolic link"),
      broken: expect.stringContaining("manifest.yaml"),
    });
    expect(await sharingFilesOf("p")).not.toEqual([]);
    await expect(instances.start("p")).rejects.toThrow("runtimectl daemon migrate-packages");

    const kept = await runMigration("p", ["--to", "directory"]);

    expect(JSON.parse(kept.stdout)).toMatchObject({ store: "directory", workers: 0 });
    expect(await sharingFilesOf("p")).toEqual([]);
    const p = await instances.start("p");
    await expectSoon(p, "fine", "fine");
    expect(await readText(p, "linked")).toBe("linked");
  },
  clusterTestMs,
);

test(
  "`daemon migrate-packages` changes nothing without registry, primary or folder",
  async () => {
    const before = await startBefore("u");
    await uploadText(before, "unmoved", "1.0.0", "unmoved");
    await before.stop();
    await writeSharingFiles("u");
    const digest = await treeDigest(instances.workersOf("u"));
    const lost = await startSqld();
    await lost.dispose();

    expect(await runMigration("u", [], { store: "directory" })).toMatchObject({ status: 2, stderr: expect.stringContaining("--store") });
    expect(await runMigration("u", [], { store: "oci:nowhere" })).toMatchObject({ status: 2 });
    expect(await runMigration("u", [], { store: "oci:http://127.0.0.1:9/team" })).toMatchObject({
      status: 8,
      stderr: expect.stringContaining("REGISTRY_UNAVAILABLE"),
    });
    expect(await runMigration("u", [], { primary: lost.url })).toMatchObject({
      status: 8,
      stderr: expect.stringContaining("PRIMARY_UNAVAILABLE"),
    });
    const empty = await temporaryDirectory();
    const words = ["daemon", "migrate-packages", ...placesOf(empty), "--store", storeOf(), "--yes"];
    const nowhere = await runRuntimectl({ url: "http://127.0.0.1:9", rootKey: "", directory: empty }, words);
    expect(nowhere).toMatchObject({ status: 6, stderr: expect.stringContaining("--state-dir") });
    expect(existsSync(path.join(empty, "state"))).toBe(false);
    expect(await treeDigest(instances.workersOf("u"))).toBe(digest);
    expect(await readFile(path.join(instances.workersOf("u"), ".instances/changes"), "utf8")).toContain("number");

    expect(await runMigration("u", [])).toMatchObject({ status: 0 });
    await expectSoon(await instances.start("u"), "unmoved", "unmoved");
  },
  clusterTestMs,
);
