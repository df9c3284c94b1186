import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { WorkerManifest } from "../../src/shared/worker-manifest.js";
import { connect, uploadOf } from "../support/connect.js";
import { packFiles } from "../support/pack-files.js";
import { createSender } from "../support/send.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

const secretValue = "the value of a secret";
const manifest = `# The shop of the team.
name: "@team/shop"
version: 1.0.0
entrypoint: index.js

# Raised for the image import.
memory: 2gb # operator: see ticket
timeout: 5s
env:
  # The greeting on the first page.
  GREETING: hello from the shop
  PORT: 8080
secrets: [STRIPE_KEY, { name: DEBUG, optional: true }]
hosts: [shop.example.org]
x-team: { owner: anna }
`;
const code = "export default { fetch: () => new Response(JSON.stringify({ ...process.env })) };\n";
const shop = { scope: "@team", name: "shop", version: "1.0.0" };
const plain = { scope: "_", name: "plain", version: "1.0.0" };

let daemon: TestDaemon;
let root: Client;
let viewer: Client;
let other: Client;
let send: ReturnType<typeof createSender>;

beforeAll(async () => {
  daemon = await startDaemon({ env: { RUNTIME_APP_DOMAIN: "apps.example.org", RUNTIME_WORKER_DATA_MAX: "50mb", RUNTIME_POOL_SIZE: "20" } });
  root = connect(daemon.url, daemon.rootKey);
  send = createSender(daemon.url);
  const keyOf = async (body: Parameters<Client["keys"]["create"]>[0]["body"]) => (await root.keys.create({ body })).data.key;
  viewer = connect(daemon.url, await keyOf({ name: "viewer", role: "viewer" }));
  other = connect(daemon.url, await keyOf({ name: "other", role: "admin", namespaces: ["@other"] }));
  await root.secrets.set({ params: { scope: "@team", name: "shop", key: "STRIPE_KEY" }, body: { value: secretValue } });
  await upload({ "manifest.yaml": manifest, "index.js": code });
  await upload({
    "package.json": JSON.stringify({ name: "plain", version: "1.0.0", entrypoint: "index.js", timeout: "7s" }),
    "index.js": code,
  });
});

afterAll(async () => {
  await send.close();
  await daemon.dispose();
});

async function upload(files: Readonly<Record<string, string>>): Promise<void> {
  await root.workers.upload({ file: uploadOf("worker.tgz", await packFiles(files)) });
}

const fileOf = (name: string) => path.join(daemon.directory, "workers", name);
const textOf = () => readFile(fileOf("@team/shop/1.0.0/manifest.yaml"), "utf8");
const show = (client: Client = root, params = shop) => client.workerConfig.show({ params });
const fieldsOf = async (params = shop) => Object.fromEntries((await show(root, params)).fields.map(({ name, ...field }) => [name, field]));
const change = async (set: Record<string, unknown>, params = shop) =>
  root.workerConfig.change({ params, body: { etag: (await show(root, params)).etag, set } });
const put = async (yaml: string) => root.workerConfig.change({ params: shop, body: { etag: (await show()).etag, yaml } });
const keysOf = (yaml: string) => yaml.match(/^[\w-]+(?=:)/gm) ?? [];

describe("the configuration of a version", () => {
  test("contains every manifest field and the source of its value", async () => {
    const fields = await fieldsOf();

    expect(Object.keys(fields).toSorted()).toEqual(
      Object.keys(WorkerManifest.shape)
        .filter((name) => name !== "env")
        .toSorted(),
    );
    const declared = ["entrypoint", "timeout", "secrets", "hosts"];
    for (const [name, { source }] of Object.entries(fields)) {
      const expected = name === "memory" ? "limit" : declared.includes(name) ? "manifest" : "default";
      expect(source, name).toBe(expected);
    }
    expect(fields).toMatchObject({
      timeout: { value: "5s" },
      idleTimeout: { value: "60s" },
      maxBodySize: { value: "10mb", limit: "100mb" },
      instances: { value: 1, limit: 20 },
      data: { value: null, limit: "50mb" },
      network: { value: { mode: "public", allow: [] } },
      hosts: { value: ["shop.example.org"] },
    });
  });

  test("shows the daemon's limit in place of a greater value", async () => {
    expect((await fieldsOf())["memory"]).toEqual({
      value: "1gb",
      source: "limit",
      limit: "1gb",
      note: expect.stringMatching(/RUNTIME_WORKER_MEMORY_MAX.*1gb.*2gb/),
    });
  });

  test("contains `env`, secret names and manifest text for a key with workers:install", async () => {
    expect(await show()).toMatchObject({
      editable: true,
      env: [
        { name: "GREETING", value: "hello from the shop" },
        { name: "PORT", value: "8080" },
      ],
      secrets: ["STRIPE_KEY", "DEBUG"],
      yaml: manifest,
    });
  });

  test("contains neither values of `env` nor manifest text for a viewer key", async () => {
    const shown = await show(viewer);

    expect(shown).toMatchObject({
      env: [
        { name: "GREETING", value: null },
        { name: "PORT", value: null },
      ],
      yaml: null,
    });
    expect(JSON.stringify(shown)).not.toContain("hello from");
    const body = { etag: shown.etag, set: { timeout: "1s" } };
    await expect(viewer.workerConfig.change({ params: shop, body })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  });

  test("is sent in responses that contain no secret value and no API key", async () => {
    const target = "/api/workers/@team/shop/1.0.0/config";
    const headers = { "x-api-key": daemon.rootKey, "content-type": "application/json" };
    const { etag } = await show();
    const bodies = [
      { etag, set: { timeout: "5s" } },
      { etag, set: { memory: [] } },
      { etag: "x", yaml: "a: b" },
      { etag, yaml: "a: [" },
    ];

    const answers = [await send({ path: target, headers })];
    for (const body of bodies) answers.push(await send({ method: "PUT", path: target, headers, body: JSON.stringify(body) }));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 412, 400]);
    for (const { text } of answers) expect(text).not.toMatch(new RegExp(`${secretValue}|${daemon.rootKey}`));
  });

  test("causes an error for a key of another namespace and for an unknown version", async () => {
    await expect(show(other)).rejects.toMatchObject({ code: "NAMESPACE_DENIED" });
    await expect(other.workerConfig.change({ params: shop, body: { etag: "x", set: {} } })).rejects.toMatchObject({
      code: "NAMESPACE_DENIED",
    });
    await expect(show(root, { ...shop, version: "9.0.0" })).rejects.toMatchObject({ code: "WORKER_VERSION_NOT_FOUND" });
    await expect(show(root, { ...shop, name: "none" })).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
  });

  test("cannot be changed when the worker is built in", async () => {
    const built = (await root.workers.list()).find(({ name }) => name === "cpanel");
    const params = { scope: "_", name: "cpanel", version: built?.versions[0] ?? "" };
    const { etag, editable } = await show(root, params);

    expect(editable).toBe(false);
    await expect(root.workerConfig.change({ params, body: { etag, set: { timeout: "1s" } } })).rejects.toMatchObject({
      code: "BUILT_IN_WORKER_CHANGE_FORBIDDEN",
    });
  });
});

describe("a change of single configuration fields", () => {
  test("is in effect for the next request, and keeps the manifest's comments and order", async () => {
    const before = await textOf();
    const { timeout: _timeout, ...others } = await fieldsOf();

    const shown = await change({ timeout: "9s", env: { GREETING: "good evening", PORT: 8080, NEW: "1" }, accessLog: false });

    const text = await textOf();
    expect(await (await fetch(`${daemon.url}/@team/shop/`)).json()).toMatchObject({ GREETING: "good evening", NEW: "1", PORT: "8080" });
    expect(shown.fields).toContainEqual({ name: "timeout", value: "9s", source: "manifest" });
    expect(shown).toEqual(await show());
    expect(others).toMatchObject({ memory: { source: "limit" } });
    for (const comment of before.match(/#.*$/gm) ?? []) expect(text).toContain(comment);
    expect(keysOf(text)).toEqual([...keysOf(before), "accessLog"]);
  });

  test("removes a field when its new value is `null`", async () => {
    const shown = await change({ accessLog: null });

    expect(await textOf()).not.toContain("accessLog");
    expect(shown.fields).toContainEqual({ name: "accessLog", value: true, source: "default" });
  });

  const rejected: readonly (readonly [set: Record<string, unknown>, name: string, message: RegExp])[] = [
    [{ timeout: "soon" }, "timeout", /"soon" is not a duration/],
    [{ maxRequests: -1 }, "maxRequests", /0/],
    [{ instances: 65 }, "instances", /64/],
    [{ cron: [{ schedule: "every day", endpoint: "/x" }] }, "cron", /every day/],
    [{ cron: [{ endpoint: "/x" }] }, "cron", /0\.schedule/],
    [{ memmory: "1gb" }, "memmory", /did you mean memory/],
    [{ name: "@team/other" }, "name", /can be changed here/],
    [{ enabled: false }, "enabled", /can be changed here/],
    [{ data: "1gb" }, "data", /RUNTIME_WORKER_DATA_MAX/],
    [{ permissions: ["child-process"] }, "permissions", /RUNTIME_WORKER_PERMISSIONS/],
    [{ network: { mode: "all" } }, "network", /RUNTIME_WORKER_NETWORK/],
    [{ hosts: ["shop.apps.example.org"] }, "hosts", /RUNTIME_APP_DOMAIN/],
    [{ __proto__x: 1 }, "__proto__x", /not a field/],
  ];
  test.each(rejected)("is rejected and changes nothing (fields: %j)", async (set, name, message) => {
    const before = await textOf();

    await expect(change({ timeout: "8s", ...set })).rejects.toMatchObject({
      code: "INVALID_PACKAGE_METADATA",
      details: { fields: [{ name, message: expect.stringMatching(message) }] },
    });

    expect(await textOf()).toBe(before);
  });

  test("is rejected with 412 when its ETag is older than the configuration", async () => {
    const { etag } = await show();
    await change({ timeout: "10s" });
    const before = await textOf();

    await expect(root.workerConfig.change({ params: shop, body: { etag, set: { timeout: "11s" } } })).rejects.toMatchObject({
      code: "PRECONDITION_FAILED",
      status: 412,
    });

    expect(await textOf()).toBe(before);
  });

  test("succeeds for only one of several simultaneous changes with the same ETag", async () => {
    const { etag } = await show();

    const outcomes = await Promise.allSettled(
      ["21s", "22s", "23s", "24s"].map((timeout) => root.workerConfig.change({ params: shop, body: { etag, set: { timeout } } })),
    );

    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "PRECONDITION_FAILED" });
    const won = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    expect(won[0]).toEqual(await show());
  });

  test("is rejected when it requires a secret without a value", async () => {
    const before = await textOf();

    await expect(change({ secrets: ["STRIPE_KEY", "UNSET"] })).rejects.toMatchObject({ code: "SECRET_MISSING" });

    expect(await textOf()).toBe(before);
  });

  test("adds a manifest to a package that has only package.json", async () => {
    const before = await readFile(fileOf("plain/1.0.0/package.json"), "utf8");
    expect((await fieldsOf(plain))["timeout"]).toEqual({ value: "7s", source: "manifest", note: "The value is from package.json." });
    await expect(change({ timeout: null }, plain)).rejects.toMatchObject({ details: { fields: [{ name: "timeout" }] } });

    await change({ timeout: "3s", env: { A: "b" } }, plain);

    expect((await fieldsOf(plain))["timeout"]).toEqual({ value: "3s", source: "manifest" });
    expect(await readFile(fileOf("plain/1.0.0/manifest.yaml"), "utf8")).toBe("timeout: 3s\nenv:\n  A: b\n");
    expect(await readFile(fileOf("plain/1.0.0/package.json"), "utf8")).toBe(before);
    expect(await (await fetch(`${daemon.url}/plain/`)).json()).toMatchObject({ A: "b" });
  });
});

describe("a change of the manifest's text", () => {
  test("stores exactly the text that the client sent", async () => {
    const text = `${manifest}# The end.\n`;

    expect((await put(text)).yaml).toBe(text);
    expect(await textOf()).toBe(text);
  });

  const base = 'name: "@team/shop"\nversion: 1.0.0\n';
  const rejected: readonly (readonly [yaml: string, name: string, line: number])[] = [
    [`${base}timeout: [1\n`, "manifest.yaml", 4],
    [`${base}env:\n  A: 1\ntimeout: soon\n`, "timeout", 5],
    [`${base}cron:\n  - schedule: "* * * * *"\n    endpoint: 7\n`, "cron", 5],
    [`${base}timeuot: 5s\n`, "timeuot", 3],
    ['name: "@other/shop"\nversion: 1.0.0\n', "name", 1],
    ['name: "@team/shop"\nversion: 2.0.0\n', "version", 2],
  ];
  test.each(rejected)("is rejected with the line number of the fault (text: %j)", async (yaml, name, line) => {
    const before = await textOf();

    await expect(put(yaml)).rejects.toMatchObject({
      code: "INVALID_PACKAGE_METADATA",
      details: { fields: [{ name, line, message: expect.any(String) }] },
    });

    expect(await textOf()).toBe(before);
  });

  test("can repair a manifest that is invalid on the disk", async () => {
    await writeFile(fileOf("@team/shop/1.0.0/manifest.yaml"), `${base}timeout: [\n`);
    await expect.poll(async () => (await show()).problem).toBeDefined();
    const broken = await show();
    expect(broken).toMatchObject({ yaml: `${base}timeout: [\n`, editable: true });

    await put(manifest);

    expect((await show()).problem).toBeUndefined();
  });
});

test("the audit log contains a change of a configuration with the worker's version", async () => {
  await change({ timeout: "12s" });

  const { entries } = await root.audit.list({ query: { limit: 1 } });

  expect(entries[0]).toMatchObject({ action: "worker.files-changed", outcome: "done", subject: { name: "@team/shop", version: "1.0.0" } });
});
