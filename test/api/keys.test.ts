import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { permissions, rolePermissions } from "../../src/shared/permissions.js";
import { connect } from "../support/connect.js";
import { createSender, expectRefusal } from "../support/send.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

type KeyBody = Parameters<Client["keys"]["create"]>[0]["body"];

let daemon: TestDaemon;
let root: Client;
let send: ReturnType<typeof createSender>;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
  send = createSender(daemon.url);
});

afterAll(async () => {
  await send.close();
  await daemon.dispose();
});

const create = async (body: Partial<KeyBody> = {}) => (await root.keys.create({ body: { name: "a key", role: "viewer", ...body } })).data;
const listed = async (id: number) => (await root.keys.list()).keys.find((key) => key.id === id);
const day = 86_400;

describe("a new key", () => {
  test.each([
    ["90min", 5400],
    ["12h", day / 2],
    ["1d", day],
    ["30d", 30 * day],
    ["90d", 90 * day],
    ["2w", 14 * day],
    ["6m", 180 * day],
    ["1y", 365 * day],
    ["100y", 36_500 * day],
    ["36500d", 36_500 * day],
  ])("expires exactly after the requested lifetime %s", async (expiresIn, seconds) => {
    const { id, createdAt, expiresAt } = await create({ expiresIn });

    expect(expiresAt).toBe(createdAt + seconds);
    expect((await listed(id))?.expiresAt).toBe(expiresAt);
  });

  test.each([[{ expiresIn: "never" }], [{}]])("never expires when created with the expiry fields %j", async (body) => {
    const key = await create(body);

    expect(key).not.toHaveProperty("expiresAt");
    expect(await listed(key.id)).not.toHaveProperty("expiresAt");
  });

  test("is returned once with its secret and then listed without the secret", async () => {
    const { key, ...created } = await create({ name: "  Déploiement ✓  ", role: "editor", namespaces: ["@b", "@a", "@b"] });

    expect(key).toMatch(/^rtk_[A-Za-z0-9_-]{43}$/);
    expect(created).toMatchObject({
      name: "Déploiement ✓",
      keyPrefix: key.slice(0, 12),
      permissions: rolePermissions.editor,
      namespaces: ["@b", "@a"],
    });
    expect(await listed(created.id)).toEqual(created);
    expect(Math.abs(created.createdAt - Date.now() / 1000)).toBeLessThan(60);
  });

  test("has each permission once, and only the namespace `*` if the request contains `*`", async () => {
    const everywhere = await create({ role: "custom", permissions: ["keys:read", "workers:read", "keys:read"], namespaces: ["@a", "*"] });

    expect(everywhere).toMatchObject({ permissions: ["keys:read", "workers:read"], namespaces: ["*"] });
    expect((await create()).namespaces).toEqual(["*"]);
  });

  test("has a unique ID and secret even when 100 keys have the same name", async () => {
    const keys = await Promise.all(Array.from({ length: 100 }, () => create({ name: "one of many" })));

    expect(new Set(keys.map(({ id }) => id)).size).toBe(100);
    expect(new Set(keys.map(({ key }) => key)).size).toBe(100);
    expect((await root.keys.list()).keys.filter(({ name }) => name === "one of many")).toHaveLength(100);
  });

  test("has an empty field lastUsedAt before its first use", async () => {
    const { id, key } = await create();
    expect(await listed(id)).not.toHaveProperty("lastUsedAt");

    await connect(daemon.url, key).session.show();

    expect(Math.abs(((await listed(id))?.lastUsedAt ?? 0) - Date.now() / 1000)).toBeLessThan(60);
  });
});

describe("a key that creates keys", () => {
  const refusal = expect.objectContaining({ code: "PERMISSION_ESCALATION", status: 403 });

  test("cannot create a key that has more permissions or namespaces than itself", async () => {
    const { key } = await create({ role: "custom", permissions: ["keys:create", "workers:read"], namespaces: ["@team"] });
    const maker = connect(daemon.url, key);
    const before = (await root.keys.list()).keys.length;
    const tries: KeyBody[] = [
      { name: "admin", role: "admin", namespaces: ["@team"] },
      { name: "editor", role: "editor", namespaces: ["@team"] },
      { name: "viewer", role: "viewer", namespaces: ["@team"] },
      { name: "more", role: "custom", permissions: ["workers:read", "workers:install"], namespaces: ["@team"] },
      { name: "everywhere", role: "custom", permissions: ["workers:read"], namespaces: ["*"] },
      { name: "everywhere by default", role: "custom", permissions: ["workers:read"] },
      { name: "elsewhere", role: "custom", permissions: ["workers:read"], namespaces: ["@team", "@other"] },
    ];

    for (const body of tries) await expect(maker.keys.create({ body }), body.name).rejects.toEqual(refusal);

    expect((await root.keys.list()).keys).toHaveLength(before);
    const { data } = await maker.keys.create({
      body: { name: "equal", role: "custom", permissions: ["keys:create"], namespaces: ["@team"] },
    });
    expect(data).toMatchObject({ permissions: ["keys:create"], namespaces: ["@team"] });
  });
});

describe("revocation of a key", () => {
  test("causes AUTH_REQUIRED for the next call, even on an open connection", async () => {
    const { id, key } = await create({ role: "admin" });
    const channels = [{ "x-api-key": key }, { authorization: `Bearer ${key}` }, { cookie: `runtime_api_key=${key}` }];
    for (const headers of channels) expect((await send({ path: "/api/keys", headers })).status).toBe(200);

    expect(await root.keys.revoke({ params: { id: String(id) } })).toEqual({ success: true });

    for (const headers of channels) expectRefusal(await send({ path: "/api/keys", headers }), "AUTH_REQUIRED");
    expect(await listed(id)).toBeUndefined();
  });

  test.each(["header", "bearer", "cookie"] as const)("is rejected when a key revokes itself (credential type: %s)", async (channel) => {
    const { id, key } = await create({ role: "admin" });
    const credential = {
      header: { "x-api-key": key },
      bearer: { authorization: `Bearer ${key}` },
      cookie: { cookie: `runtime_api_key=${key}` },
    };
    const headers = { ...credential[channel], origin: new URL(daemon.url).origin };

    expectRefusal(await send({ method: "DELETE", path: `/api/keys/${id}`, headers }), "KEY_SELF_REVOKE_FORBIDDEN");

    expect((await listed(id))?.id).toBe(id);
  });

  test("fails with KEY_NOT_FOUND for an ID without an active key", async () => {
    const { id } = await create();
    await root.keys.revoke({ params: { id: String(id) } });

    for (const unknown of [String(id), "4711", "9007199254740991"])
      await expect(root.keys.revoke({ params: { id: unknown } })).rejects.toMatchObject({ code: "KEY_NOT_FOUND", status: 404 });
  });

  test("succeeds for only one of 10 simultaneous calls", async () => {
    const { id } = await create();

    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => root.keys.revoke({ params: { id: String(id) } })));

    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});

test("keys.meta returns all roles, all permissions and the permissions of each role", async () => {
  const meta = await root.keys.meta();

  expect(meta).toEqual({ roles: ["admin", "editor", "viewer", "custom"], permissions: [...permissions], rolePermissions });
});
