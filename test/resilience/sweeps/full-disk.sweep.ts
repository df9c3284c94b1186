import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, readdir } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ApiError } from "../../../src/shared/api-error.js";
import type { Client } from "../../../src/shared/client.js";
import { connect, uploadOf } from "../../support/connect.js";
import { entriesOf } from "../../support/entries-of.js";
import { openListeningSocket } from "../../support/listening-socket.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { mountSmallDisk, type SmallDisk } from "../../support/small-disk.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { treeDigest } from "../../support/tree-digest.js";

const program = path.join(import.meta.dirname, "../../../bin/runtimed.js");
const timeout = 120_000;
const size = { megabytes: 6, names: 400 };
/** Space left on the disk: names for files and folders (one more each time) or kilobytes (one block more each time). */
const ways = [
  { way: "leaveNames", step: 1 },
  { way: "leaveKilobytes", step: 4 },
] as const;
/** Enough space for any change of this test. */
const most = 100;

async function startThere(disk: SmallDisk): Promise<{ daemon: TestDaemon; client: Client }> {
  const daemon = await startDaemon({ directory: disk.directory, launcher: disk.launcher });
  onTestFinished(daemon.kill);
  return { daemon, client: connect(daemon.url, daemon.rootKey) };
}

/** Hardly compressible, so that the archive needs space, too. */
const noise = (length: number) => Array.from({ length }, () => String.fromCharCode(33 + Math.floor(Math.random() * 90))).join("");

async function appArchive(marker: string): Promise<Buffer> {
  const parts = Object.fromEntries(Array.from({ length: 4 }, (_, index) => [`lib-${index % 2}/part-${index}.txt`, marker + noise(6000)]));
  return await packFiles({ "manifest.yaml": manifestOf("app", "1.0.0"), "index.html": marker, ...parts });
}

async function pluginArchive(marker: string): Promise<Buffer> {
  const code = `export default { routes: { fetch: () => new Response(${JSON.stringify(marker)}) } };`;
  return await packFiles({ "manifest.yaml": manifestOf("teller", "1.0.0", "base: /teller\n"), "plugin.js": code });
}

/** Returns "done", or the error code of the rejected change. */
const outcomeOf = (change: Promise<unknown>) =>
  change.then(
    () => "done",
    (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
  );

/** Repeats a change with more space each time until it succeeds. Each rejection must be 507 without changes. Returns their number. */
async function sweep(disk: SmallDisk, change: () => Promise<unknown>): Promise<number> {
  let refusals = 0;
  for (const { way, step } of ways) {
    let outcome = "";
    for (let room = 0; outcome !== "done"; room += step) {
      const before = await digestOf(disk);
      await disk[way](room);
      outcome = await outcomeOf(change());
      await disk.free();
      if (outcome === "done") break;
      expect({ way, room, outcome }).toEqual({ way, room, outcome: "INSUFFICIENT_STORAGE" });
      expect(await digestOf(disk), `${way} ${room}`).toBe(before);
      expect(room).toBeLessThan(most * step);
      refusals += 1;
    }
  }
  return refusals;
}

/** Returns the digest of installed files after the staging folder is empty. */
async function digestOf(disk: SmallDisk): Promise<string> {
  const inside = (...parts: string[]) => path.join(disk.folder, ...parts);
  const leftovers = async () => [
    ...(await readdir(inside("state", "spool"))),
    ...[...entriesOf(inside("workers")), ...entriesOf(inside("plugins"))].filter((name) => name.startsWith(".")),
  ];
  await expect.poll(leftovers).toEqual([]);
  return (await treeDigest(inside("workers"))) + (await treeDigest(inside("plugins")));
}

test("a daemon rejects an upload when the disk fills at any step, and keeps no file", { timeout }, async () => {
  const disk = await mountSmallDisk(size);
  const { daemon, client } = await startThere(disk);
  await client.workers.upload({ file: uploadOf("app.tgz", await appArchive("first")) });
  let marker = "";
  const served = async () => await (await fetch(`${daemon.url}/app/`)).text();
  let before = "first";

  const refusals = await sweep(disk, async () => {
    expect(await served()).toBe(before);
    marker = `upload ${noise(8)}`;
    await client.workers.upload({ file: uploadOf("app.tgz", await appArchive(marker)) });
    before = marker;
  });

  expect(refusals).toBeGreaterThan(20);
  expect(await served()).toBe(marker);
});

test("a daemon completes or rejects each change of packages on a full disk", { timeout }, async () => {
  const disk = await mountSmallDisk(size);
  const { daemon, client } = await startThere(disk);
  await client.workers.upload({ file: uploadOf("app.tgz", await appArchive("app")) });
  await client.plugins.upload({ file: uploadOf("teller.tgz", await pluginArchive("old")) });
  await client.workers.upload({ file: uploadOf("other.tgz", await packFiles({ "manifest.yaml": manifestOf("other", "1.0.0") })) });
  const toDelete = ["app", "other"];
  const version = { scope: "_", name: "app", version: "1.0.0" };
  const folder = "workers/app/1.0.0";
  let count = 0;
  const changes: Record<string, () => Promise<unknown>> = {
    "a worker is disabled": () => client.workers.disable({ params: version }),
    "a worker is enabled": () => client.workers.enable({ params: version }),
    "a plugin is uploaded": async () => client.plugins.upload({ file: uploadOf("teller.tgz", await pluginArchive(`new ${(count += 1)}`)) }),
    "a plugin is disabled": () => client.plugins.disable({ params: { name: "teller" } }),
    "a plugin is enabled": () => client.plugins.enable({ params: { name: "teller" } }),
    "a file is written": () =>
      client.workerFiles.upload({ fields: { path: folder }, files: [uploadOf("note.txt", Buffer.alloc(9000, String((count += 1))))] }),
    "a folder is created": () => client.workerFiles.mkdir({ body: { path: `${folder}/folder-${(count += 1)}/inner` } }),
    "a worker is deleted": async () => {
      await client.workers.remove({ params: { scope: "_", name: toDelete[0] as string } });
      toDelete.shift();
    },
  };
  for (const [what, change] of Object.entries(changes)) {
    // The second sweep repeats toggles and deletions without effect, which need no space.
    expect(await sweep(disk, change).catch((cause: unknown) => Promise.reject(new Error(what, { cause }))), what).toBeGreaterThan(0);
  }
  expect(await (await fetch(`${daemon.url}/teller`)).text()).toMatch(/^new /);
});

test("a daemon rejects key changes on a full disk, and later writes all audit entries", { timeout }, async () => {
  const disk = await mountSmallDisk(size);
  const { daemon, client } = await startThere(disk);
  const listed = async () => (await client.keys.list()).keys.map(({ id }) => id).toSorted((a, b) => a - b);
  const kept = (await client.keys.create({ body: { name: "kept", role: "viewer" } })).data;
  const active = [kept.id];
  await disk.leaveKilobytes(0);
  // The log of the store has reserved space, so the first changes succeed.
  let outcome = "done";
  for (let count = 0; outcome === "done"; count += 1) {
    expect(count, "keys made on a full disk").toBeLessThan(1000);
    outcome = await outcomeOf(
      client.keys.create({ body: { name: `key ${count}`, role: "viewer" } }).then(({ data }) => active.push(data.id)),
    );
  }
  expect(outcome).toBe("INSUFFICIENT_STORAGE");
  expect(await listed()).toEqual(active);
  const revoked = await outcomeOf(client.keys.revoke({ params: { id: String(kept.id) } }));
  expect(["done", "INSUFFICIENT_STORAGE"]).toContain(revoked);
  const isKept = revoked === "done" ? 401 : 200;
  expect((await fetch(`${daemon.url}/api/admin/session`, { headers: { "x-api-key": kept.key } })).status).toBe(isKept);

  await disk.free();
  await outcomeOf(client.keys.revoke({ params: { id: String(kept.id) } }));
  expect(await listed()).toEqual(active.slice(1));
  const audited = async () => {
    const { entries } = await client.audit.list({ query: { limit: 1000 } });
    return entries.filter(({ action, outcome: end }) => action === "key.created" && end === "done").length;
  };
  await expect.poll(audited).toBe(active.length);
  await daemon.kill();
  const next = await startThere(disk);
  expect((await next.client.keys.list()).keys.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(active.slice(1));
});

test("a daemon reports a full disk and does not start until space is free", { timeout }, async () => {
  const disk = await mountSmallDisk(size);
  const first = await startThere(disk);
  const { data } = await first.client.keys.create({ body: { name: "kept", role: "viewer" } });
  await first.daemon.stop();
  for (const { way, room } of [
    { way: "leaveNames", room: 0 },
    { way: "leaveNames", room: 1 },
    { way: "leaveKilobytes", room: 0 },
    { way: "leaveKilobytes", room: 4 },
  ] as const) {
    await disk[way](room);
    const failure = await startThere(disk).catch((error: Error) => error.message);
    await disk.free();
    expect(failure, `${way} ${room}`).toMatch(/ended with 1 .*runtimed: .*room/s);
    expect(failure, `${way} ${room}`).not.toMatch(/restore|Another runtimed/);
  }
  const next = await startThere(disk);
  expect((await connect(next.daemon.url, data.key).keys.list()).keys).toHaveLength(1);
});

test("a daemon serves while a full disk prevents writes to its log", async () => {
  const socket = openListeningSocket();
  onTestFinished(socket.close);
  const full = await open("/dev/full", "w");
  onTestFinished(() => full.close());
  const child = spawn("sh", ["-c", 'LISTEN_PID=$$ exec "$0" "$@"', process.execPath, program], {
    cwd: await temporaryDirectory(),
    env: { PATH: process.env["PATH"] ?? "", LISTEN_FDS: "1", RUNTIME_ROOT_KEY: "a root key" },
    stdio: ["ignore", full.fd, "ignore", socket.fd],
  });
  const exited = once(child, "exit");
  onTestFinished(() => void child.kill("SIGKILL"));

  // The connection waits until the daemon can respond.
  expect((await fetch(`http://127.0.0.1:${socket.port}/api/health/ready`)).status).toBe(200);

  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
});
