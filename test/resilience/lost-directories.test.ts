import { execFile } from "node:child_process";
import { rename, rm } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { ApiError } from "../../src/shared/api-error.js";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { entriesOf } from "../support/entries-of.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon } from "../support/start-daemon.js";
import { treeDigest } from "../support/tree-digest.js";

const timeout = 120_000;
const version = { scope: "_", name: "app", version: "1.0.0" };
const folder = "workers/app/1.0.0";

async function uploadAll(client: Client): Promise<void> {
  const app = { "manifest.yaml": manifestOf("app", "1.0.0"), "index.html": "app" };
  const code = "export default { routes: { fetch: () => new Response('plugin') } };";
  await client.workers.upload({ file: uploadOf("app.tgz", await packFiles(app)) });
  const teller = { "manifest.yaml": manifestOf("teller", "1.0.0", "base: /teller\n"), "plugin.js": code };
  await client.plugins.upload({ file: uploadOf("teller.tgz", await packFiles(teller)) });
}

/** Tries each kind of change. Returns "done" or the error code for each. */
async function tryAll(client: Client): Promise<Record<string, string>> {
  const archive = await packFiles({ "manifest.yaml": manifestOf("app", "1.0.0"), "index.html": "other" });
  const plugin = await packFiles({ "manifest.yaml": manifestOf("teller", "1.0.0"), "plugin.js": "export default {};" });
  const changes: Record<string, () => Promise<unknown>> = {
    upload: () => client.workers.upload({ file: uploadOf("app.tgz", archive) }),
    toggle: () => client.workers.disable({ params: version }),
    "file upload": () => client.workerFiles.upload({ fields: { path: folder }, files: [uploadOf("note.txt", Buffer.from("note"))] }),
    folder: () => client.workerFiles.mkdir({ body: { path: `${folder}/made` } }),
    deletion: () => client.workers.remove({ params: version }),
    "plugin upload": () => client.plugins.upload({ file: uploadOf("teller.tgz", plugin) }),
    "plugin toggle": () => client.plugins.disable({ params: { name: "teller" } }),
    "plugin deletion": () => client.plugins.remove({ params: { name: "teller" } }),
  };
  const outcomes: Record<string, string> = {};
  for (const [what, change] of Object.entries(changes)) outcomes[what] = await outcomeOf(change());
  return outcomes;
}

/** Permissions do not restrict root, so as root the folders become immutable (chattr of e2fsprogs). */
async function makeWritable(directories: readonly string[], isWritable: boolean): Promise<void> {
  const change = process.getuid?.() === 0 ? ["chattr", "-R", isWritable ? "-i" : "+i"] : ["chmod", "-R", isWritable ? "u+w" : "a-w"];
  const [program = "", ...args] = [...change, ...directories];
  await promisify(execFile)(program, args);
}

const outcomeOf = (change: Promise<unknown>) =>
  change.then(
    () => "done",
    (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
  );

test("a daemon rejects changes while its package directories are read-only", { timeout }, async () => {
  const daemon = await startDaemon();
  const directories = ["workers", "plugins"].map((kind) => path.join(daemon.directory, kind));
  onTestFinished(async () => {
    // A running daemon would delete files while chattr visits them.
    await daemon.kill();
    await makeWritable(directories, true);
    await daemon.dispose();
  });
  const client = connect(daemon.url, daemon.rootKey);
  await uploadAll(client);
  const digests = () => Promise.all(directories.map((directory) => treeDigest(directory)));
  await expect.poll(() => directories.flatMap((directory) => entriesOf(directory))).toEqual(["app", "teller"]);
  const before = await digests();

  await makeWritable(directories, false);
  expect(await tryAll(client)).toEqual({
    upload: "NO_WORKER_DIRS",
    toggle: "STORAGE_NOT_WRITABLE",
    "file upload": "PATH_NOT_WRITABLE",
    folder: "PATH_NOT_WRITABLE",
    deletion: "STORAGE_NOT_WRITABLE",
    "plugin upload": "NO_PLUGIN_DIRS",
    "plugin toggle": "STORAGE_NOT_WRITABLE",
    "plugin deletion": "STORAGE_NOT_WRITABLE",
  });
  expect(await digests()).toEqual(before);
  expect(await outcomeOf(client.health.ready())).toBe("NOT_READY");
  for (const [at, text] of Object.entries({ "/app/": "app", "/teller": "plugin" }))
    expect(await (await fetch(daemon.url + at)).text()).toBe(text);

  await makeWritable(directories, true);
  expect(new Set(Object.values(await tryAll(client)))).toEqual(new Set(["done"]));
  expect(await outcomeOf(client.health.ready())).toBe("done");
});

test("a daemon serves but rejects changes while its state directory is missing", { timeout }, async () => {
  const daemon = await startDaemon();
  onTestFinished(daemon.dispose);
  const client = connect(daemon.url, daemon.rootKey);
  await uploadAll(client);
  const { data } = await client.keys.create({ body: { name: "kept", role: "viewer" } });
  const state = path.join(daemon.directory, "state");
  const before = await treeDigest(path.join(daemon.directory, "workers"));

  await rename(state, `${state}-away`);
  const archive = await packFiles({ "manifest.yaml": manifestOf("app", "1.0.0") });
  expect(await outcomeOf(client.workers.upload({ file: uploadOf("app.tgz", archive) }))).toBe("STORAGE_NOT_WRITABLE");
  expect(await outcomeOf(client.keys.create({ body: { name: "lost", role: "viewer" } }))).toBe("KEY_STORE_UNAVAILABLE");
  expect(await outcomeOf(client.keys.revoke({ params: { id: String(data.id) } }))).toBe("KEY_STORE_UNAVAILABLE");
  expect(await outcomeOf(client.health.ready())).toBe("NOT_READY");
  expect(await treeDigest(path.join(daemon.directory, "workers"))).toBe(before);
  expect(await (await fetch(`${daemon.url}/app/`)).text()).toBe("app");
  expect((await connect(daemon.url, data.key).keys.list()).keys).toHaveLength(1);

  await rename(`${state}-away`, state);
  await uploadAll(client);
  await client.keys.revoke({ params: { id: String(data.id) } });
  expect(await outcomeOf(client.health.ready())).toBe("done");
});

test("a daemon creates deleted package directories again at the next upload", { timeout }, async () => {
  const daemon = await startDaemon();
  onTestFinished(daemon.dispose);
  const client = connect(daemon.url, daemon.rootKey);
  await uploadAll(client);

  for (const kind of ["workers", "plugins"]) await rm(path.join(daemon.directory, kind), { recursive: true });
  await expect.poll(async () => (await client.workers.list()).filter(({ source }) => source === "uploaded")).toEqual([]);
  expect((await fetch(`${daemon.url}/app/`)).status).toBe(404);

  await uploadAll(client);
  expect(await (await fetch(`${daemon.url}/app/`)).text()).toBe("app");
  expect(await (await fetch(`${daemon.url}/teller`)).text()).toBe("plugin");
});
