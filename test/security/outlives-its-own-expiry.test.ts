import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect } from "../support/connect.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

const escalation = { code: "PERMISSION_ESCALATION", status: 403 };
const day = 86_400;

describe("a leaked key that expires in two days", () => {
  let daemon: TestDaemon;
  let root: Client;
  let leaked: { readonly id: number; readonly key: string; readonly expiresAt?: number | undefined };
  let client: Client;

  beforeAll(async () => {
    daemon = await startDaemon();
    root = connect(daemon.url, daemon.rootKey);
    leaked = (await root.keys.create({ body: { name: "pipeline", role: "admin", expiresIn: "2d" } })).data;
    client = connect(daemon.url, leaked.key);
  });
  afterAll(() => daemon.dispose());

  const allKeys = async () => (await root.keys.list()).keys.map(({ lastUsedAt: _lastUsedAt, ...key }) => key);

  it.each([["never"], [undefined], ["3d"], ["1y"]])("cannot create a key with the lifetime %s", async (expiresIn) => {
    const before = await allKeys();
    await expect(client.keys.create({ body: { name: "next", role: "viewer", ...(expiresIn && { expiresIn }) } })).rejects.toMatchObject(
      escalation,
    );
    expect(await allKeys()).toEqual(before);
  });

  it("can create a key that expires earlier", async () => {
    const { expiresAt } = (await client.keys.create({ body: { name: "short", role: "viewer", expiresIn: "1d" } })).data;
    expect(expiresAt).toBeLessThan(leaked.expiresAt as number);
  });

  it.each(["never", "30d"])("cannot rotate another key that has the lifetime %s", async (expiresIn) => {
    const { id } = (await root.keys.create({ body: { name: "long", role: "viewer", expiresIn } })).data;
    const before = await allKeys();
    await expect(client.keys.rotate({ params: { id: String(id) }, body: {} })).rejects.toMatchObject(escalation);
    expect(await allKeys()).toEqual(before);
  });

  it("can rotate itself, and the new key has the same expiry", async () => {
    const { key, expiresAt } = (await client.keys.rotate({ params: { id: String(leaked.id) }, body: { overlap: "1d" } })).data;
    expect(expiresAt).toBe(leaked.expiresAt);
    const again = connect(daemon.url, key);
    const { id } = (await again.session.show()).principal;
    expect((await again.keys.rotate({ params: { id: String(id) }, body: { overlap: "1d" } })).data.expiresAt).toBe(leaked.expiresAt);
  });

  it("is replaced by a key with the same lifetime when the root key rotates it", async () => {
    const { id } = (await root.keys.create({ body: { name: "by root", role: "viewer", expiresIn: "2d" } })).data;
    const { createdAt, expiresAt } = (await root.keys.rotate({ params: { id: String(id) }, body: {} })).data;
    expect(expiresAt).toBe(createdAt + 2 * day);
  });
});
