import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect } from "../support/connect.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

type KeyBody = Parameters<Client["keys"]["create"]>[0]["body"];

let daemon: TestDaemon;
let root: Client;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
});

afterAll(() => daemon.dispose());

const create = async (body: Partial<KeyBody> = {}) => (await root.keys.create({ body: { name: "a key", role: "viewer", ...body } })).data;
const listed = async (id: number) => (await root.keys.list()).keys.find((key) => key.id === id);
const rotate = async (by: Client, id: number, overlap?: string) =>
  (await by.keys.rotate({ params: { id: String(id) }, body: overlap === undefined ? {} : { overlap } })).data;
const works = (key: string) =>
  connect(daemon.url, key)
    .session.show()
    .then(
      () => true,
      () => false,
    );
const withoutUse = async () => (await root.keys.list()).keys.map(({ lastUsedAt: _lastUsedAt, ...key }) => key);
const day = 86_400;

describe("the replacement key", () => {
  test("has a new secret and the old key's name, permissions, namespaces and lifetime", async () => {
    const old = await create({
      name: "ci",
      role: "custom",
      permissions: ["workers:read", "workers:install"],
      namespaces: ["@a", "@b"],
      expiresIn: "90d",
    });

    const { key, rotated, ...replacement } = await rotate(root, old.id);

    expect(key).toMatch(/^rtk_[A-Za-z0-9_-]{43}$/);
    expect(key).not.toBe(old.key);
    expect(replacement).toMatchObject({ name: "ci", role: "custom", permissions: old.permissions, namespaces: ["@a", "@b"] });
    expect(replacement.expiresAt).toBe(replacement.createdAt + 90 * day);
    expect(await listed(replacement.id)).toEqual(replacement);
    expect(rotated).toEqual({ id: old.id, expiresAt: replacement.createdAt + day });
    expect((await listed(old.id))?.expiresAt).toBe(rotated.expiresAt);
    expect(await works(key)).toBe(true);
    expect(await works(old.key)).toBe(true);
  });

  test("never expires when the old key had no expiry before the rotation", async () => {
    const old = await create();

    const replacement = await rotate(root, old.id, "7d");

    expect(replacement).not.toHaveProperty("expiresAt");
    expect((await listed(old.id))?.expiresAt).toBe(replacement.createdAt + 7 * day);
  });
});

describe("the old key", () => {
  test("keeps its expiry when that expiry is earlier than the end of the grace period", async () => {
    const old = await create({ expiresIn: "1d" });

    const { rotated } = await rotate(root, old.id, "30d");

    expect(rotated.expiresAt).toBe(old.expiresAt);
    expect((await listed(old.id))?.expiresAt).toBe(old.expiresAt);
  });

  test("expires immediately with a grace period of 0 s", async () => {
    const old = await create();

    const { key } = await rotate(root, old.id, "0");

    expect(await listed(old.id)).toBeUndefined();
    expect(await works(old.key)).toBe(false);
    expect(await works(key)).toBe(true);
  });

  test("cannot be rotated after its revocation", async () => {
    const { id } = await create();
    await root.keys.revoke({ params: { id: String(id) } });
    const before = await root.keys.list();

    await expect(rotate(root, id)).rejects.toMatchObject({ code: "KEY_NOT_FOUND", status: 404 });

    expect(await root.keys.list()).toEqual(before);
  });
});

describe("a key that rotates itself or another key", () => {
  test("can rotate itself only with a grace period, and then remains valid", async () => {
    const own = await create({ role: "admin" });
    const by = connect(daemon.url, own.key);
    const before = await withoutUse();

    for (const none of ["0", "0s"])
      await expect(rotate(by, own.id, none)).rejects.toMatchObject({ code: "KEY_SELF_REVOKE_FORBIDDEN", status: 403 });
    expect(await withoutUse()).toEqual(before);

    const { key } = await rotate(by, own.id, "1h");
    expect([await works(own.key), await works(key)]).toEqual([true, true]);
  });

  test("cannot rotate a key that has more permissions or namespaces", async () => {
    const both = ["keys:create", "keys:revoke"] as const;
    const limited = await create({ role: "custom", permissions: [...both, "workers:read"], namespaces: ["@team"] });
    const targets = [
      await create({ role: "admin", namespaces: ["@team"] }),
      await create({ role: "custom", permissions: ["workers:read"] }),
      await create({ role: "custom", permissions: ["workers:read"], namespaces: ["@team", "@other"] }),
    ];
    const equal = await create({ role: "custom", permissions: ["workers:read"], namespaces: ["@team"] });
    const by = connect(daemon.url, limited.key);
    const before = await withoutUse();

    for (const { id } of targets) await expect(rotate(by, id)).rejects.toMatchObject({ code: "PERMISSION_ESCALATION", status: 403 });

    expect(await withoutUse()).toEqual(before);
    expect(await rotate(by, equal.id)).toMatchObject({ permissions: ["workers:read"], namespaces: ["@team"] });
  });
});
