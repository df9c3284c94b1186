import { describe, expect, onTestFinished, test } from "vitest";
import { createKeySecret, hashKeySecret, shownPrefixOf, type Credential } from "../../../../src/server/access/credentials.js";
import type { NewKey } from "../../../../src/server/access/key-store.js";
import { LocalKeyStore } from "../../../../src/server/access/local-key-store.js";
import { Principals, rootPrincipal } from "../../../../src/server/access/principals.js";
import { createLog } from "../../../../src/server/log/log.js";
import { permissions, rolePermissions } from "../../../../src/shared/permissions.js";
import { temporaryDirectory } from "../../../support/temporary-directory.js";

const createdAt = 1_700_000_000;

const inHeader = (secret: string): Credential => ({ secret, channel: "header" });
const inCookie = (secret: string): Credential => ({ secret, channel: "cookie" });

async function openPrincipals(rootKey: string | undefined, clock = { now: createdAt }) {
  const store = new LocalKeyStore({ stateDirectory: await temporaryDirectory(), log: createLog({ level: "silent" }) });
  onTestFinished(() => store.close());
  const addKey = (secret: string, changes: Partial<NewKey> = {}) =>
    store.create({
      name: "deploys",
      keyPrefix: shownPrefixOf(secret),
      hash: hashKeySecret(secret),
      role: "viewer",
      permissions: [],
      namespaces: ["*"],
      createdAt,
      expiresAt: undefined,
      ...changes,
    });
  return { store, addKey, clock, principals: new Principals({ store, rootKey, now: () => clock.now }) };
}

describe("the root key", () => {
  test("belongs to the root principal, which has ID 0 and all permissions", async () => {
    const { principals } = await openPrincipals("the root key");

    expect(principals.principalOf("the root key")).toEqual({
      id: 0,
      name: "root",
      keyPrefix: "root",
      role: "admin",
      permissions: [...permissions],
      namespaces: ["*"],
      isRoot: true,
    });
  });

  test.each(["", "r", "root ke", "root key ", " root key", "ROOT KEY", "root keyx", "root\0key", "root key".repeat(60), "röot"])(
    "is not accepted from a request that contains the key %j",
    async (wrong) => {
      const { principals } = await openPrincipals("root key");

      expect(principals.principalOf(wrong)).toBeUndefined();
    },
  );

  test("is never accepted if none is configured, not even an empty key", async () => {
    const { principals } = await openPrincipals(undefined);

    for (const secret of ["", "undefined", "null", "root"]) expect(principals.principalOf(secret)).toBeUndefined();
  });

  test("has priority over a stored key with the same secret", async () => {
    const { principals, addKey, store } = await openPrincipals("both");
    const { id } = addKey("both");

    expect(principals.principalOf("both")).toBe(rootPrincipal);
    expect(store.list().find((key) => key.id === id)?.lastUsedAt).toBeUndefined();
  });
});

describe("stored keys", () => {
  test("have the permissions of their role, or their own if the role is `custom`", async () => {
    const { principals, addKey } = await openPrincipals(undefined);
    addKey("an editor", { role: "editor", permissions: ["keys:create"] });
    addKey("a custom", { role: "custom", permissions: ["keys:read"], namespaces: ["@team"] });

    expect(principals.principalOf("an editor")?.permissions).toEqual(rolePermissions.editor);
    expect(principals.principalOf("a custom")).toMatchObject({ permissions: ["keys:read"], namespaces: ["@team"] });
    expect(principals.principalOf("a custom")).not.toHaveProperty("isRoot");
  });

  test("are rejected from the next call after their revocation", async () => {
    const { principals, addKey, store } = await openPrincipals(undefined);
    const { id } = addKey("a key");
    expect(principals.principalOf("a key")?.id).toBe(id);

    store.revoke(id, createdAt);

    expect(principals.principalOf("a key")).toBeUndefined();
  });

  test("remain listed after expiry; a rejected request does not change their last use", async () => {
    const { principals, addKey, store, clock } = await openPrincipals(undefined);
    addKey("a key", { expiresAt: createdAt + 60 });
    clock.now = createdAt + 61;

    expect(principals.principalOf("a key")).toBeUndefined();

    expect(store.list()).toHaveLength(1);
    expect(store.list()[0]?.lastUsedAt).toBeUndefined();
  });

  test.each([
    [-1, true],
    [0, false],
    [1, false],
  ])("are accepted only before their expiry (seconds after expiry: %i, accepted: %j)", async (distance, letsIn) => {
    const { principals, addKey, clock } = await openPrincipals(undefined);
    addKey("a key", { expiresAt: createdAt + 60 });
    clock.now = createdAt + 60 + distance;

    expect(principals.principalOf("a key") !== undefined).toBe(letsIn);
  });

  test("are valid again after a clock that was too far ahead is corrected", async () => {
    const { principals, addKey, clock } = await openPrincipals(undefined);
    addKey("a key", { expiresAt: createdAt + 60 });
    clock.now = createdAt + 31_536_000;
    expect(principals.principalOf("a key")).toBeUndefined();

    clock.now = createdAt;

    expect(principals.principalOf("a key")).toBeDefined();
  });
});

describe("several keys in one request", () => {
  test("are checked in order, and the first valid key determines the principal", async () => {
    const { principals, addKey } = await openPrincipals("root");
    const { id } = addKey("a key");

    expect(principals.resolve([inHeader("unknown"), inCookie("a key")])).toMatchObject({
      principal: { id },
      channel: "cookie",
    });
    expect(principals.resolve([inHeader("a key"), inCookie("root")])).toMatchObject({
      principal: { id },
      channel: "header",
    });
    expect(principals.resolve([inHeader("unknown")])).toBeUndefined();
    expect(principals.resolve([])).toBeUndefined();
  });
});

test("isOurKey returns true for the root key and each key with the prefix rtk_", async () => {
  const { principals } = await openPrincipals("the root key");

  expect(principals.isOurKey(createKeySecret())).toBe(true);
  expect(principals.isOurKey("rtk_")).toBe(true);
  expect(principals.isOurKey("the root key")).toBe(true);
  expect(principals.isOurKey("the app's own token")).toBe(false);
});

test("generated keys are unique and have the documented format", () => {
  const secrets = Array.from({ length: 1_000 }, () => createKeySecret());

  for (const secret of secrets) expect(secret).toMatch(/^rtk_[A-Za-z0-9_-]{43}$/);
  expect(new Set(secrets).size).toBe(secrets.length);
  expect(shownPrefixOf("rtk_0123456789")).toBe("rtk_01234567");
});
