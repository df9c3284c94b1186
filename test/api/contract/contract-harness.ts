import { mkdir, mkdtemp, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createKeySecret, hashKeySecret, shownPrefixOf } from "../../../src/server/access/credentials.js";
import { LocalKeyStore } from "../../../src/server/access/local-key-store.js";
import { createLog } from "../../../src/server/log/log.js";
import type { Client } from "../../../src/shared/client.js";
import { operations } from "../../../src/shared/contract/index.js";
import { permissions, type Permission } from "../../../src/shared/permissions.js";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { createSender } from "../../support/send.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { settledDigest } from "../../support/settled-digest.js";
import { createExamples, fileExampleNames, type Example } from "./examples.js";

/** A daemon with all kinds of workers, plugins and keys, for calls that the daemon must reject. */
export interface ContractHarness {
  readonly daemon: TestDaemon;
  readonly send: ReturnType<typeof createSender>;
  readonly examples: Readonly<Record<string, Example>>;
  /** Keys that have every permission except one. */
  readonly keyWithout: Readonly<Record<Permission, string>>;
  readonly keys: Readonly<Record<"admin" | "editor" | "viewer" | "team" | "expired" | "revoked", string>>;
  /** State that a call can change. Tests compare files, keys, workers and plugins before and after a call. */
  readonly snapshot: () => Promise<unknown>;
  readonly close: () => Promise<void>;
}

export async function openContractHarness(): Promise<ContractHarness> {
  const directory = await mkdtemp(path.join(tmpdir(), "runtimed-test-"));
  const expired = await leaveExpiredKey(path.join(directory, "state"));
  const daemon = await startDaemon({ directory });
  const root = connect(daemon.url, daemon.rootKey);
  for (const name of ["@team/app", "@team/deleted", "@team/halved", "@other/app", "plain"]) await install(root, name);
  for (const name of ["@team/plugin", "@team/deleted-plugin", "@other/plugin", "plain-plugin"]) await installPlugin(root, name);
  await mkdir(path.join(directory, "data/@team/app"), { recursive: true });
  await writeFile(path.join(directory, "data/@team/app/file"), "data");
  const files = Object.fromEntries(fileExampleNames.map((name) => [name, name]));
  await install(root, "@team/files", files);
  await installPlugin(root, "@team/files-plugin", files);
  const pid = await startScheduledWorker(daemon, root);
  const create = async (body: Parameters<Client["keys"]["create"]>[0]["body"]) => (await root.keys.create({ body })).data;
  const revoked = await create({ name: "revoked", role: "admin" });
  await root.keys.revoke({ params: { id: String(revoked.id) } });
  const keys = {
    admin: (await create({ name: "admin", role: "admin" })).key,
    editor: (await create({ name: "editor", role: "editor" })).key,
    viewer: (await create({ name: "viewer", role: "viewer" })).key,
    team: (await create({ name: "team", role: "admin", namespaces: ["@team"] })).key,
    expired,
    revoked: revoked.key,
  };
  const keyWithout = {} as Record<Permission, string>;
  for (const permission of permissions) {
    const others = permissions.filter((other) => other !== permission);
    keyWithout[permission] = (await create({ name: `no ${permission}`, role: "custom", permissions: others })).key;
  }
  const victim = await create({ name: "victim", role: "viewer" });
  const send = createSender(daemon.url);
  return {
    daemon,
    send,
    examples: await createExamples({
      rootKey: daemon.rootKey,
      victimKeyId: victim.id,
      pid,
      workerEtag: (await root.workerConfig.show({ params: { scope: "@team", name: "files", version: "1.0.0" } })).etag,
      pluginEtag: (await root.pluginConfig.show({ params: { name: "@team/files-plugin" } })).etag,
    }),
    keyWithout,
    keys,
    snapshot: () => takeSnapshot(daemon, root),
    close: async () => {
      await send.close();
      await daemon.dispose();
    },
  };
}

/** Returns the path of an operation. Parameters are inserted without encoding. */
export function pathOf(id: string, params: Readonly<Record<string, string>> = {}): string {
  const { endpoint } = operations.find((operation) => operation.id === id) ?? { endpoint: undefined };
  if (!endpoint) throw new Error(`there is no operation ${id}`);
  return (endpoint.atOrigin ? "" : "/api") + endpoint.path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? "");
}

/** The API accepts no expiry below 1 day, so the key is stored before the daemon starts. */
async function leaveExpiredKey(stateDirectory: string): Promise<string> {
  await mkdir(stateDirectory, { recursive: true });
  const store = new LocalKeyStore({ stateDirectory, log: createLog({ level: "silent" }) });
  const secret = createKeySecret();
  const nowSeconds = Math.floor(Date.now() / 1000);
  store.create({
    name: "expired",
    keyPrefix: shownPrefixOf(secret),
    hash: hashKeySecret(secret),
    role: "admin",
    permissions: [],
    namespaces: ["*"],
    createdAt: nowSeconds - 86_400,
    expiresAt: nowSeconds - 1,
  });
  store.close();
  return secret;
}

async function install(root: Client, name: string, files: Readonly<Record<string, string>> = {}): Promise<void> {
  const archive = await packFiles({ ...files, "manifest.yaml": manifestOf(name, "1.0.0"), "index.html": name });
  await root.workers.upload({ file: uploadOf("worker.tgz", archive) });
}

/** Installs a worker with a cron job and starts its isolate. Returns the process id of the isolate. */
async function startScheduledWorker({ url }: TestDaemon, root: Client): Promise<number> {
  const manifest = `${manifestOf("@team/scheduled", "1.0.0")}\ncron:\n  - schedule: "0 0 1 1 *"\n    endpoint: /job\n`;
  const archive = await packFiles({ "manifest.yaml": manifest, "index.js": "export default { fetch: () => new Response('ran') };" });
  await root.workers.upload({ file: uploadOf("worker.tgz", archive) });
  await fetch(`${url}/@team/scheduled/`);
  const [isolate] = await root.isolates.list({ query: { worker: "@team/scheduled" } });
  if (!isolate) throw new Error("no isolate of @team/scheduled runs");
  return isolate.pid;
}
const pluginSchema = "configSchema: { properties: { limit: { type: number, default: 10 } } }\n";

async function installPlugin(root: Client, name: string, files: Readonly<Record<string, string>> = {}): Promise<void> {
  const plugin = "export default {};\n";
  const archive = await packFiles({ ...files, "manifest.yaml": `${manifestOf(name, "1.0.0")}${pluginSchema}`, "plugin.js": plugin });
  await root.plugins.upload({ file: uploadOf("plugin.tgz", archive) });
}

async function takeSnapshot({ directory }: TestDaemon, root: Client): Promise<unknown> {
  const { keys } = await root.keys.list();
  return {
    files: await settledDigest(path.join(directory, "workers")),
    pluginFiles: await settledDigest(path.join(directory, "plugins")),
    data: await settledDigest(path.join(directory, "data")),
    plugins: await root.plugins.list(),
    loadedPlugins: await root.plugins.loaded(),
    spool: await readdir(path.join(directory, "state", "spool")),
    workers: await root.workers.list(),
    cron: await root.cron.list({ query: { worker: "@team/scheduled" } }),
    isolates: (await root.isolates.list()).map(({ pid, worker, state }) => ({ pid, worker, state })),
    secrets: await root.secrets.list({ params: { scope: "@team", name: "app" } }),
    // The daemon records a rejected call as the last use of the key.
    keys: keys.map(({ lastUsedAt: _lastUsedAt, ...key }) => key),
  };
}
