import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiError } from "../../src/shared/api-error.js";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

const modes = ["permitted", "admin", "root", "off"] as const;
type Mode = (typeof modes)[number];
const callers = ["editor of @team", "custom key of @team", "editor", "admin of @team", "admin", "root"] as const;
type Caller = (typeof callers)[number];

/** Callers that can upload a plugin in each mode. Other attempts get 403 PLUGIN_UPLOADS_RESTRICTED. */
const allowed: Readonly<Record<Mode, readonly Caller[]>> = {
  permitted: callers,
  admin: ["admin", "root"],
  root: ["root"],
  off: [],
};

const permissionsOf = {
  "editor of @team": { role: "editor", namespaces: ["@team"] },
  "custom key of @team": {
    role: "custom",
    permissions: ["workers:read", "plugins:read", "plugins:install", "plugins:remove"],
    namespaces: ["@team"],
  },
  editor: { role: "editor" },
  "admin of @team": { role: "admin", namespaces: ["@team"] },
  admin: { role: "admin" },
} as const;

const pluginOf = async (name: string, base: string) =>
  uploadOf(
    "plugin.tgz",
    await packFiles({
      "manifest.yaml": `name: "${name}"\nversion: 1.0.0\nbase: ${base}\n`,
      "plugin.js": "export default { routes: { fetch: () => new Response('plugin') } };",
    }),
  );

/** Returns "done", or the error code of the rejected upload. */
const outcomeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "done",
    (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
  );

describe.each(modes)("the setting RUNTIME_PLUGIN_UPLOADS=%s", (mode) => {
  let daemon: TestDaemon;
  let root: Client;
  const clients = new Map<Caller, Client>();

  beforeAll(async () => {
    const env = mode === "permitted" ? {} : { RUNTIME_PLUGIN_UPLOADS: mode };
    daemon = await startDaemon({ env });
    root = connect(daemon.url, daemon.rootKey);
    clients.set("root", root);
    for (const [name, granted] of Object.entries(permissionsOf)) {
      const { data } = await root.keys.create({ body: { name, ...granted } as never });
      clients.set(name as Caller, connect(daemon.url, data.key));
    }
    await uploadWorker(root, "dep", { "index.html": "the worker" });
  });
  afterAll(() => daemon.dispose());

  const clientOf = (caller: Caller) => clients.get(caller) as Client;
  const expected = (caller: Caller) => (allowed[mode].includes(caller) ? "done" : "PLUGIN_UPLOADS_RESTRICTED");
  const pluginNames = async () => (await root.plugins.list()).map(({ name }) => name);

  test.each(callers)("decides whether a plugin can be uploaded (caller: %s)", async (caller) => {
    const before = await pluginNames();
    expect(await outcomeOf(clientOf(caller).plugins.upload({ file: await pluginOf("@team/helper", "/helper") }))).toBe(expected(caller));
    if (expected(caller) === "done") await root.plugins.remove({ params: { name: "@team/helper" } });
    expect(await pluginNames()).toEqual(before);
  });

  test.each(callers)("decides whether files of a plugin can be changed (caller: %s)", async (caller) => {
    const write = () =>
      clientOf(caller).pluginFiles.upload({
        fields: { path: "plugins/@team/helper" },
        files: [uploadOf("plugin.js", Buffer.from("export default {};"))],
      });
    const mkdir = () => clientOf(caller).pluginFiles.mkdir({ body: { path: "plugins/@team/helper/lib" } });
    const outcome = expected(caller);
    expect(await outcomeOf(mkdir())).toBe(outcome);
    expect(await outcomeOf(write())).toBe(outcome);
    if (outcome === "done")
      expect(await outcomeOf(clientOf(caller).pluginFiles.remove({ body: { path: "plugins/@team/helper" } }))).toBe("done");
  });

  test("does not allow an upload by a key without the permission plugins:install", async () => {
    const { data } = await root.keys.create({ body: { name: "viewer", role: "viewer" } });
    const upload = connect(daemon.url, data.key).plugins.upload({ file: await pluginOf("@team/helper", "/helper") });
    expect(await outcomeOf(upload)).toBe("PERMISSION_DENIED");
  });

  test("does not allow a plugin of a namespace that the key does not include", async () => {
    const upload = clientOf("editor of @team").plugins.upload({ file: await pluginOf("@other/helper", "/helper") });
    expect(await outcomeOf(upload)).toBe(mode === "permitted" ? "NAMESPACE_DENIED" : "PLUGIN_UPLOADS_RESTRICTED");
  });

  test.each(callers)("does not allow a plugin whose base path is the path of a worker (caller: %s)", async (caller) => {
    const outcome = await outcomeOf(clientOf(caller).plugins.upload({ file: await pluginOf("@team/thief", "/dep") }));
    expect(outcome).toBe(allowed[mode].includes(caller) ? "BASE_TAKEN" : "PLUGIN_UPLOADS_RESTRICTED");
    expect(await (await fetch(`${daemon.url}/dep/`)).text()).toBe("the worker");
  });
});

describe("a daemon where a key of one namespace can upload plugins", () => {
  let daemon: TestDaemon;
  let root: Client;
  let team: Client;
  beforeAll(async () => {
    daemon = await startDaemon();
    root = connect(daemon.url, daemon.rootKey);
    team = connect(daemon.url, (await root.keys.create({ body: { name: "team", role: "editor", namespaces: ["@team"] } })).data.key);
  });
  afterAll(() => daemon.dispose());

  test("rejects a worker whose path is the base path of a plugin, even a disabled one", async () => {
    await team.plugins.upload({ file: await pluginOf("@team/first", "/first") });
    expect(await outcomeOf(uploadWorker(root, "first", { "index.html": "the worker" }))).toBe("BASE_TAKEN");
    await root.plugins.disable({ params: { name: "@team/first" } });
    expect(await outcomeOf(uploadWorker(root, "first", { "index.html": "the worker" }))).toBe("BASE_TAKEN");
    expect(await root.workers.list()).not.toContainEqual(expect.objectContaining({ name: "first" }));
    await root.plugins.remove({ params: { name: "@team/first" } });
    expect(await outcomeOf(uploadWorker(root, "first", { "index.html": "the worker" }))).toBe("done");
  });

  test("rejects a plugin whose base path is the path of a worker, even a disabled one", async () => {
    await uploadWorker(root, "second", { "index.html": "the worker" });
    await root.workers.disable({ params: { scope: "_", name: "second", version: "1.0.0" } });
    expect(await outcomeOf(team.plugins.upload({ file: await pluginOf("@team/second", "/second") }))).toBe("BASE_TAKEN");
    expect(await root.plugins.list()).not.toContainEqual(expect.objectContaining({ name: "@team/second" }));
  });

  test("rejects an edited manifest whose base path belongs to another worker or plugin", async () => {
    await uploadWorker(root, "third", { "index.html": "the worker" });
    await team.plugins.upload({ file: await pluginOf("@team/third", "/of-third") });
    const edit = team.pluginFiles.upload({
      fields: { path: "plugins/@team/third" },
      files: [uploadOf("manifest.yaml", Buffer.from(`name: "@team/third"\nbase: /third\n`))],
    });
    expect(await outcomeOf(edit)).toBe("BASE_TAKEN");
    const rename = root.workerFiles.upload({
      fields: { path: "workers/third/1.0.0" },
      files: [uploadOf("manifest.yaml", Buffer.from(manifestOf("of-third", "1.0.0")))],
    });
    expect(await outcomeOf(rename)).toBe("BASE_TAKEN");
    expect(await (await fetch(`${daemon.url}/third/`)).text()).toBe("the worker");
    expect(await (await fetch(`${daemon.url}/of-third/`)).text()).toBe("plugin");
  });

  test("accepts only one of two simultaneous uploads for the same path", async () => {
    for (let round = 0; round < 5; round += 1) {
      const name = `once-${round}`;
      const file = await pluginOf(`@team/${name}`, `/${name}`);
      const outcomes = await Promise.all([
        outcomeOf(uploadWorker(root, name, { "index.html": "the worker" })),
        outcomeOf(team.plugins.upload({ file })),
      ]);
      expect(outcomes.toSorted()).toEqual(["BASE_TAKEN", "done"]);
    }
  });

  test("rejects a plugin whose base path is the name of a namespace", async () => {
    expect(await outcomeOf(team.plugins.upload({ file: await pluginOf("@team/scope", "/@other") }))).toBe("INVALID_PACKAGE_METADATA");
  });

  test("reports in health checks and log that a key of one namespace can upload plugins", async () => {
    const { checks = [] } = (await root.health.ready({ query: { verbose: "1" } })) as { checks?: { name: string; status: string }[] };
    const statusOf = (name: string) => checks.find((check) => check.name === name)?.status;
    expect([statusOf("panel-origin"), statusOf("plugin-uploads")]).toEqual(["degraded", "degraded"]);
    const again = await startDaemon({ directory: (await daemon.stop(), daemon.directory) });
    try {
      expect(again.output()).toContain("set RUNTIME_PLUGIN_UPLOADS to admin, root or off");
      expect(again.output()).toContain("set RUNTIME_PANEL_HOST");
    } finally {
      await again.stop();
    }
  });

  test("logs no warning when only keys for all namespaces can upload plugins", async () => {
    const quiet = await startDaemon();
    try {
      await connect(quiet.url, quiet.rootKey).keys.create({ body: { name: "viewer", role: "viewer" } });
      expect(quiet.output()).not.toMatch(/RUNTIME_PANEL_HOST|RUNTIME_PLUGIN_UPLOADS/);
    } finally {
      await quiet.dispose();
    }
  });
});
