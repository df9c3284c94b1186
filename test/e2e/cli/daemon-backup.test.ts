import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { entriesOf } from "../../support/entries-of.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import type { InProcessRun } from "../../support/run-in-process.js";
import { runRuntimectl } from "../../support/run-runtimectl.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { treeDigest } from "../../support/tree-digest.js";

const start = async (options: Parameters<typeof startDaemon>[0] = {}): Promise<TestDaemon> => {
  const daemon = await startDaemon(options);
  onTestFinished(() => daemon.dispose());
  return daemon;
};

/** Runs `runtimectl daemon backup|restore FILE` on the directories below a folder. */
const run = (directory: string, words: readonly string[]): Promise<InProcessRun> => {
  const places = ["state", "worker", "plugin"].flatMap((name) => [
    name === "state" ? "--state-dir" : `--${name}-dirs`,
    path.join(directory, name === "state" ? name : `${name}s`),
  ]);
  return runRuntimectl({ url: "http://127.0.0.1:9", rootKey: "", directory }, ["daemon", ...words, ...places]);
};

const call = (daemon: TestDaemon, target: string, init: RequestInit = {}) =>
  fetch(`${daemon.url}${target}`, {
    ...init,
    headers: { ...(init.headers as Record<string, string> | undefined), authorization: `Bearer ${daemon.rootKey}` },
  });

/** A package whose first and last file belong to the same upload, with enough files between them to detect a torn backup. */
const workerOf = (mark: string) => {
  const filling = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`part-${index}.txt`, mark.repeat(2000)]));
  return packFiles({ "manifest.yaml": manifestOf("app", "1.0.0"), "a.txt": mark, ...filling, "z.txt": mark, "index.html": mark });
};

const upload = async (daemon: TestDaemon, kind: "workers" | "plugins", archive: Buffer): Promise<void> => {
  const form = new FormData();
  form.set("file", new File([new Uint8Array(archive)], "package.tgz"));
  const answer = await call(daemon, `/api/${kind}/upload`, { method: "POST", body: form });
  expect(answer.status, await answer.text()).toBeLessThan(300);
};

const createKey = async (daemon: TestDaemon): Promise<string> => {
  const answer = await call(daemon, "/api/keys", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "of a test", role: "viewer" }),
  });
  expect(answer.status).toBe(201);
  return JSON.stringify(await answer.json()).match(/rtk_[\w-]{43}/)?.[0] as string;
};

const isKnown = async (daemon: TestDaemon, key: string) =>
  (await fetch(`${daemon.url}/api/workers`, { headers: { authorization: `Bearer ${key}` } })).status === 200;

test("`daemon restore` restores a backup created during uploads and key changes", { timeout: 60_000 }, async () => {
  const daemon = await start();
  const archives = await Promise.all(["x", "y"].map(workerOf));
  await upload(daemon, "workers", archives[0] as Buffer);
  await upload(daemon, "workers", await packFiles({ "manifest.yaml": manifestOf("@team/site", "2.1.0"), "index.html": "site" }));
  const plugin = { "manifest.yaml": manifestOf("@team/plugin", "1.0.0"), "plugin.js": "export default { name: 'plugin' };" };
  await upload(daemon, "plugins", await packFiles(plugin));
  const key = await createKey(daemon);
  const traffic = { goesOn: true, rounds: 0 };
  const changing = (async () => {
    for (; traffic.goesOn; traffic.rounds += 1) {
      await upload(daemon, "workers", archives[traffic.rounds % 2] as Buffer);
      await createKey(daemon);
    }
  })();

  const backups = await Promise.all(["1", "2"].map((name) => run(daemon.directory, ["backup", `${name}.tgz`, "--json"])));
  traffic.goesOn = false;
  await changing;

  for (const { status, stderr } of backups) expect(status, stderr).toBe(0);
  expect(JSON.parse(backups[0]?.stdout ?? "")).toMatchObject({ workers: 2, plugins: 1, skipped: [] });
  expect((await stat(path.join(daemon.directory, "1.tgz"))).mode & 0o777).toBe(0o600);
  expect((await readdir(daemon.directory)).toSorted()).toEqual(
    ["1.tgz", "2.tgz", "plugins", "runtimectl", "state", "workers"].filter((name) => name !== "runtimectl"),
  );
  const place = await temporaryDirectory();
  const restored = await run(place, ["restore", path.join(daemon.directory, "1.tgz"), "--yes", "--json"]);
  expect(restored.status, restored.stderr).toBe(0);
  expect(JSON.parse(restored.stdout)).toMatchObject({ dryRun: false, keysBefore: null, kept: [] });
  const next = await start({ directory: place });
  expect(await isKnown(next, key)).toBe(true);
  const served = await Promise.all(["a", "z", "part-7"].map(async (name) => (await call(next, `/app/${name}.txt`)).text()));
  expect(["x", "y"]).toContain(served[0]);
  expect(served).toEqual([served[0], served[0], served[0]?.repeat(2000)]);
  expect(await (await call(next, "/@team/site/")).text()).toBe("site");
  expect(await (await call(next, "/api/plugins")).text()).toContain("@team/plugin");
});

test("`daemon restore` keeps copies of replaced files; --dry-run changes nothing", async () => {
  const daemon = await start();
  await upload(daemon, "workers", await workerOf("x"));
  const key = await createKey(daemon);
  expect((await run(daemon.directory, ["backup", "b.tgz"])).status).toBe(0);
  const later = await createKey(daemon);
  await upload(daemon, "workers", await packFiles({ "manifest.yaml": manifestOf("later", "1.0.0"), "index.html": "later" }));

  const refused = await run(daemon.directory, ["restore", "b.tgz", "--yes", "--json"]);
  expect(refused.status).toBe(7);
  expect(refused.stderr).toContain("DAEMON_RUNNING");
  expect(await isKnown(daemon, later)).toBe(true);

  const beside = await run(daemon.directory, ["restore", "b.tgz", "--dry-run", "--json"]);
  expect(beside.status, beside.stderr).toBe(0);
  expect(JSON.parse(beside.stdout)).toMatchObject({ dryRun: true, keys: 1, keysBefore: 2 });
  expect(await isKnown(daemon, later)).toBe(true);

  await daemon.stop();
  const before = await treeDigest(daemon.directory);
  const looked = await run(daemon.directory, ["restore", "b.tgz", "--dry-run", "--json"]);
  const unconfirmed = await run(daemon.directory, ["restore", "b.tgz"]);
  expect(looked.status, looked.stderr).toBe(0);
  expect(JSON.parse(looked.stdout)).toMatchObject({
    dryRun: true,
    keys: 1,
    keysBefore: 2,
    packages: [
      { kind: "workers", path: "app/1.0.0", change: "replace" },
      { kind: "workers", path: "later/1.0.0", change: "remove" },
    ],
  });
  expect(unconfirmed.status).toBe(2);
  expect(unconfirmed.stderr).toContain("remove workers later/1.0.0");
  expect(await treeDigest(daemon.directory)).toBe(before);

  const restored = await run(daemon.directory, ["restore", "b.tgz", "--yes", "--json"]);
  expect(restored.status, restored.stderr).toBe(0);
  const { kept } = JSON.parse(restored.stdout) as { kept: string[] };
  expect(kept).toHaveLength(2);
  expect(await readFile(path.join(kept[0] as string, "later/1.0.0/index.html"), "utf8")).toBe("later");
  expect(await readdir(kept[1] as string)).toContain("keys.db");
  const next = await start({ directory: daemon.directory });
  expect([await isKnown(next, key), await isKnown(next, later)]).toEqual([true, false]);
  expect((await call(next, "/later/")).status).toBe(404);
  expect(await (await call(next, "/app/a.txt")).text()).toBe("x");
});

test("`daemon restore` rejects a changed, truncated or invalid backup", async () => {
  const daemon = await start();
  await upload(daemon, "workers", await workerOf("x"));
  await daemon.stop();
  expect((await run(daemon.directory, ["backup", "b.tgz"])).status).toBe(0);
  const whole = await readFile(path.join(daemon.directory, "b.tgz"));
  const tar = gunzipSync(whole);
  const changed = (from: string, to: string): Buffer => {
    const copy = Buffer.from(tar);
    copy.write(to, copy.indexOf(from), "latin1");
    return gzipSync(copy);
  };
  const wrong: Record<string, Buffer> = {
    content: changed("xxxxxxxx", "xxxxxxxy"),
    keys: changed("CREATE TABLE keys", "CREATE TABLE KEYS"),
    list: changed('"path":"app/1.0.0"', '"path":"app/1.0.1"'),
    end: gzipSync(tar.subarray(0, tar.lastIndexOf("manifest.json"))),
    gzip: whole.subarray(0, whole.length / 2),
    package: await workerOf("y"),
    text: Buffer.from("no backup"),
  };
  const kept = ["state", "workers", "plugins"].map((name) => path.join(daemon.directory, name));
  const before = await Promise.all(kept.map(treeDigest));
  for (const [name, bytes] of Object.entries(wrong)) {
    await writeFile(path.join(daemon.directory, "wrong.tgz"), bytes);
    const { status, stderr } = await run(daemon.directory, ["restore", "wrong.tgz", "--yes", "--json"]);
    expect({ name, status, code: (JSON.parse(stderr) as { error: { code: string } }).error.code }).toEqual({
      name,
      status: 1,
      code: "INVALID_BACKUP",
    });
    expect(await Promise.all(kept.map(treeDigest)), name).toEqual(before);
  }
});

test("`daemon backup` omits links with a warning, and fails without a key store", async () => {
  const directory = await temporaryDirectory();
  const missing = await run(directory, ["backup", "b.tgz"]);
  expect(missing.status).toBe(6);
  expect(await readdir(directory)).toEqual([]);

  const daemon = await start({ directory });
  await daemon.stop();
  const folder = path.join(directory, "workers", "by-hand");
  await mkdir(folder);
  await writeFile(path.join(folder, "manifest.yaml"), manifestOf("by-hand", "1.0.0"));
  await writeFile(path.join(folder, "private"), "private");
  await chmod(path.join(folder, "private"), 0o600);
  await symlink("/etc", path.join(folder, "link"));
  const { status, stdout } = await run(directory, ["backup", "b.tgz", "--json"]);
  expect(status).toBe(9);
  expect(JSON.parse(stdout)).toMatchObject({ workers: 1, skipped: [path.join(folder, "link")] });
  await rm(folder, { recursive: true });
  expect((await run(directory, ["restore", "b.tgz", "--yes", "--discard-old"])).status).toBe(0);
  expect((await readdir(folder)).toSorted()).toEqual(["manifest.yaml", "private"]);
  expect((await stat(path.join(folder, "private"))).mode & 0o777).toBe(0o600);
  expect(entriesOf(path.join(directory, "workers"))).toEqual(["by-hand"]);
});

test("runtimed rejects a damaged key store and starts after `daemon restore`", async () => {
  const daemon = await start();
  const key = await createKey(daemon);
  expect((await run(daemon.directory, ["backup", "b.tgz"])).status).toBe(0);
  await daemon.stop();
  const damaged = Buffer.alloc(8192, "damaged ");
  await writeFile(path.join(daemon.directory, "state", "keys.db"), damaged);

  await expect(startDaemon({ directory: daemon.directory })).rejects.toThrow("runtimectl daemon restore FILE");
  expect(await readFile(path.join(daemon.directory, "state", "keys.db"))).toEqual(damaged);

  expect((await run(daemon.directory, ["restore", "b.tgz", "--yes"])).status).toBe(0);
  expect(await isKnown(await start({ directory: daemon.directory }), key)).toBe(true);
});

test("`daemon restore` fails while another daemon uses the same package directories", async () => {
  const daemon = await start();
  await upload(daemon, "workers", await workerOf("x"));
  expect((await run(daemon.directory, ["backup", "b.tgz"])).status).toBe(0);
  await daemon.stop();
  const other = await start({ directory: daemon.directory, env: { RUNTIME_STATE_DIR: path.join(daemon.directory, "other-state") } });
  const before = await treeDigest(path.join(daemon.directory, "workers"));

  const refused = await run(daemon.directory, ["restore", "b.tgz", "--json", "--yes"]);
  expect(refused.status).toBe(7);
  expect(refused.stderr).toContain("another state directory");

  expect(await treeDigest(path.join(daemon.directory, "workers"))).toBe(before);
  expect(await (await call(other, "/app/a.txt")).text()).toBe("x");
});
