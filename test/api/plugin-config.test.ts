import { readFile, readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

const manifest = `name: "@team/limits"
version: 1.0.0
base: /limits
# Requests in a minute.
perMinute: 100
configSchema:
  type: object
  properties:
    perMinute: { type: integer, minimum: 1, default: 60, description: Requests in a minute }
    mode: { type: string, enum: [soft, hard], default: soft }
    timeout: { type: string, default: 5s }
    tags: { type: array, items: { type: string } }
`;
const code = "export default (config) => ({ routes: { fetch: () => Response.json(config) } });\n";
const limits = { name: "@team/limits" };
const gateway = { name: "plugin-gateway" };

let daemon: TestDaemon;
let root: Client;
let configurer: Client;
let viewer: Client;
let other: Client;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
  const keyOf = async (body: Parameters<Client["keys"]["create"]>[0]["body"]) =>
    connect(daemon.url, (await root.keys.create({ body })).data.key);
  configurer = await keyOf({ name: "configurer", role: "custom", permissions: ["plugins:read", "plugins:config"] });
  viewer = await keyOf({ name: "viewer", role: "viewer" });
  other = await keyOf({ name: "other", role: "admin", namespaces: ["@other"] });
  await root.plugins.upload({ file: uploadOf("plugin.tgz", await packFiles({ "manifest.yaml": manifest, "plugin.js": code })) });
});

afterAll(() => daemon.dispose());

const textOf = () => readFile(path.join(daemon.directory, "plugins/@team/limits/manifest.yaml"), "utf8");
const show = (client = root, params = limits) => client.pluginConfig.show({ params });
const change = async (set: Record<string, unknown>, { client = root, params = limits } = {}) =>
  client.pluginConfig.change({ params, body: { etag: (await show(client, params)).etag, set } });

describe("the settings of an uploaded plugin", () => {
  test("contain schema, values and sources; a viewer key receives no manifest text", async () => {
    const shown = await show(viewer);

    expect(shown).toMatchObject({
      editable: true,
      env: [],
      secrets: [],
      yaml: null,
      schema: { properties: { mode: { enum: ["soft", "hard"] } } },
    });
    expect(shown.fields).toEqual([
      { name: "perMinute", value: 100, source: "manifest" },
      { name: "mode", value: "soft", source: "default" },
      { name: "timeout", value: "5s", source: "default" },
      { name: "tags", value: null, source: "default" },
    ]);
    expect((await show()).yaml).toBe(manifest);
  });

  test("can be changed with the permission plugins:config without losing YAML comments", async () => {
    const shown = await change({ perMinute: 7, mode: "hard", timeout: "9s", tags: ["a"] }, { client: configurer });

    expect(shown.fields.map(({ value }) => value)).toEqual([7, "hard", "9s", ["a"]]);
    expect(await (await fetch(`${daemon.url}/limits/`)).json()).toMatchObject({ perMinute: 7, mode: "hard", timeout: "9s", tags: ["a"] });
    expect(await textOf()).toContain("# Requests in a minute.\nperMinute: 7\n");
    await change({ perMinute: null, timeout: null });
    expect(await (await fetch(`${daemon.url}/limits/`)).json()).toMatchObject({ perMinute: 60, timeout: "5s" });
  });

  test.each<[set: Record<string, unknown>, name: string]>([
    [{ perMinute: "many" }, "perMinute"],
    [{ perMinute: 0 }, "perMinute"],
    [{ mode: "medium" }, "mode"],
    [{ tags: ["a", 1] }, "tags"],
    [{ base: "/other" }, "base"],
    [{ unheardOf: 1 }, "unheardOf"],
  ])("stay unchanged when the daemon rejects the new settings %j", async (set, name) => {
    const before = await textOf();

    await expect(change({ mode: "soft", ...set })).rejects.toMatchObject({
      code: "INVALID_PACKAGE_METADATA",
      details: { fields: [{ name, message: expect.any(String) }] },
    });

    expect(await textOf()).toBe(before);
  });

  test("cannot be changed without permission, in another namespace or with an old ETag", async () => {
    const { etag } = await show();
    const before = await textOf();
    const body = { etag, set: { mode: "hard" } };

    await expect(viewer.pluginConfig.change({ params: limits, body })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    await expect(configurer.pluginConfig.change({ params: limits, body: { etag, yaml: before } })).rejects.toMatchObject({
      code: "PERMISSION_DENIED",
    });
    await expect(other.pluginConfig.show({ params: limits })).rejects.toMatchObject({ code: "NAMESPACE_DENIED" });
    await expect(root.pluginConfig.change({ params: limits, body: { ...body, etag: '"old"' } })).rejects.toMatchObject({
      code: "PRECONDITION_FAILED",
    });

    expect(await textOf()).toBe(before);
  });

  test("stay unchanged when an uploaded manifest does not match the schema", async () => {
    const wrong = await packFiles({ "manifest.yaml": manifest.replace("100", "-1"), "plugin.js": code });
    const before = await textOf();

    await expect(root.plugins.upload({ file: uploadOf("plugin.tgz", wrong) })).rejects.toMatchObject({
      code: "INVALID_PACKAGE_METADATA",
      message: expect.stringContaining("perMinute: must be 1 or more"),
    });

    expect(await textOf()).toBe(before);
  });
});

describe("the settings of the built-in gateway", () => {
  test("are not stored in an override file when the gateway rejects a value", async () => {
    await expect(change({ rateLimits: [{ limit: 1, window: "1 fortnight" }] }, { params: gateway })).rejects.toMatchObject({
      code: "INVALID_PACKAGE_METADATA",
      details: { fields: [{ name: "rateLimits", message: expect.stringContaining("fortnight") }] },
    });

    expect(await readdir(path.join(daemon.directory, "plugins"))).not.toContain("plugin-gateway");
  });

  test("are stored in an override manifest, and one of two simultaneous changes fails", async () => {
    const { etag, schema, fields } = await show(root, gateway);
    expect(Object.keys(schema?.["properties"] ?? {})).toEqual(fields.map(({ name }) => name));

    const outcomes = await Promise.allSettled(
      [1, 2].map((limit) => root.pluginConfig.change({ params: gateway, body: { etag, set: { rateLimits: [{ limit, window: "1m" }] } } })),
    );

    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const failed = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
    expect(failed).toMatchObject([{ code: "PRECONDITION_FAILED" }]);
    await root.plugins.enable({ params: gateway });
    await change({ rateLimits: [], securityHeaders: { frameOptions: "DENY" } }, { params: gateway });
    expect((await fetch(`${daemon.url}/`)).headers.get("x-frame-options")).toBe("DENY");
  });
});
