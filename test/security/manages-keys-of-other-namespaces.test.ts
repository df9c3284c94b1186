import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/shared/client.js";
import type { RuntimeEvent } from "../../src/shared/contract/events.js";
import type { Permission } from "../../src/shared/permissions.js";
import { connect } from "../support/connect.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

type KeyBody = Parameters<Client["keys"]["create"]>[0]["body"];

let daemon: TestDaemon;
let root: Client;
const created = new Map<string, { readonly id: number; readonly key: string }>();

const create = async (body: KeyBody): Promise<void> => {
  const { id, key } = (await root.keys.create({ body })).data;
  created.set(body.name, { id, key });
};
const idOf = (name: string): string => String(created.get(name)?.id);
const as = (name: string): Client => connect(daemon.url, created.get(name)?.key ?? "");
const namesSeenBy = async (name: string): Promise<string[]> => (await as(name).keys.list()).keys.map((key) => key.name);
const allKeys = async () => (await root.keys.list()).keys.map(({ lastUsedAt: _lastUsedAt, ...key }) => key);
const signIn = async (name: string) =>
  await fetch(`${daemon.url}/api/admin/session`, {
    method: "POST",
    headers: { origin: daemon.url, "content-type": "application/json" },
    body: JSON.stringify({ key: created.get(name)?.key }),
  });
const escalation = { code: "PERMISSION_ESCALATION", status: 403 };

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
  const managing: Permission[] = ["keys:read", "keys:create", "keys:revoke"];
  await create({ name: "admin", role: "admin" });
  await create({ name: "viewer", role: "viewer" });
  await create({ name: "team admin", role: "admin", namespaces: ["@team"] });
  await create({ name: "team viewer", role: "viewer", namespaces: ["@team"] });
  await create({ name: "team attacker", role: "custom", permissions: managing, namespaces: ["@team"] });
  await create({ name: "team equal", role: "custom", permissions: ["keys:read"], namespaces: ["@team"] });
  await create({ name: "attacker", role: "custom", permissions: managing });
  await create({ name: "two teams", role: "custom", permissions: ["keys:read"], namespaces: ["@team", "@other"] });
  await create({ name: "other viewer", role: "viewer", namespaces: ["@other"] });
});
afterAll(() => daemon.dispose());

describe("a key with only the namespace @team", () => {
  it("lists only the keys of its namespaces", async () => {
    const ofTeam = ["team admin", "team viewer", "team attacker", "team equal"];
    expect(await namesSeenBy("team viewer")).toEqual(ofTeam);
    expect(await namesSeenBy("team attacker")).toEqual(ofTeam);
    expect(await namesSeenBy("viewer")).toEqual([...created.keys()]);
  });

  it.each(["admin", "viewer", "two teams", "other viewer"])(
    "cannot revoke or rotate the key %j, which is valid in other namespaces",
    async (name) => {
      const before = await allKeys();
      await expect(as("team attacker").keys.revoke({ params: { id: idOf(name) } })).rejects.toMatchObject(escalation);
      await expect(as("team attacker").keys.rotate({ params: { id: idOf(name) }, body: {} })).rejects.toMatchObject(escalation);
      expect(await allKeys()).toEqual(before);
    },
  );

  it("cannot revoke or rotate a key of @team with more permissions", async () => {
    const before = await allKeys();
    for (const name of ["team admin", "team viewer"]) {
      await expect(as("team attacker").keys.revoke({ params: { id: idOf(name) } })).rejects.toMatchObject(escalation);
      await expect(as("team attacker").keys.rotate({ params: { id: idOf(name) }, body: {} })).rejects.toMatchObject(escalation);
    }
    expect(await allKeys()).toEqual(before);
  });

  it("cannot see the name or namespaces of other keys in the audit log", async () => {
    const held: Permission[] = ["keys:revoke", "audit:read"];
    await create({ name: "team auditor", role: "custom", permissions: held, namespaces: ["@team"] });
    await expect(as("team auditor").keys.revoke({ params: { id: idOf("other viewer") } })).rejects.toMatchObject({
      ...escalation,
      message: expect.not.stringContaining("workers:read") as string,
    });
    const { entries } = await as("team auditor").audit.list({ query: { limit: 100 } });
    expect(entries.map(({ action, outcome, subject }) => [action, outcome, subject])).toEqual([
      ["key.revoked", "refused", { id: Number(idOf("other viewer")) }],
    ]);
    await root.keys.revoke({ params: { id: idOf("team auditor") } });
    created.delete("team auditor");
  });

  it("can revoke a key of @team with the same or fewer permissions", async () => {
    await create({ name: "team spare", role: "custom", permissions: ["keys:read"], namespaces: ["@team"] });
    expect(await as("team attacker").keys.revoke({ params: { id: idOf("team spare") } })).toEqual({ success: true });
    expect(await namesSeenBy("viewer")).not.toContain("team spare");
  });

  it("receives events about keys and sign-ins only for its own namespaces", async () => {
    const controller = new AbortController();
    const seen: RuntimeEvent[] = [];
    const done = (async () => {
      const events = as("team viewer").events.stream.follow({ query: {} }, { signal: controller.signal });
      for await (const event of events) seen.push(event);
    })().catch(() => undefined);
    await expect.poll(() => seen.map(({ type }) => type)).toEqual(["stream.opened"]);
    await create({ name: "secret of others", role: "viewer", namespaces: ["@other"] });
    await create({ name: "secret of all", role: "viewer" });
    await root.keys.rotate({ params: { id: idOf("secret of others") }, body: { overlap: "1h" } });
    await root.keys.revoke({ params: { id: idOf("secret of all") } });
    await root.plugins.reload();
    await signIn("other viewer");
    await signIn("admin");
    await create({ name: "team new", role: "custom", permissions: ["keys:read"], namespaces: ["@team"] });
    await signIn("team viewer");
    await as("team attacker").keys.revoke({ params: { id: idOf("team new") } });
    await expect.poll(() => seen.at(-1)?.type).toBe("key.revoked");
    controller.abort();
    await done;
    const key = { id: created.get("team new")?.id, name: "team new", namespaces: ["@team"] };
    expect(seen.slice(1).map(({ type, subject }) => [type, subject])).toEqual([
      ["key.created", key],
      ["session.opened", { namespaces: ["@team"] }],
      ["key.revoked", key],
    ]);
  });
});

describe("a key with keys:revoke for all namespaces", () => {
  it("cannot revoke or rotate a key that has more permissions", async () => {
    const before = await allKeys();
    await expect(as("attacker").keys.revoke({ params: { id: idOf("admin") } })).rejects.toMatchObject(escalation);
    await expect(as("attacker").keys.rotate({ params: { id: idOf("admin") }, body: {} })).rejects.toMatchObject(escalation);
    expect(await allKeys()).toEqual(before);
    expect((await as("admin").session.show()).principal.name).toBe("admin");
  });

  it("receives 404 KEY_NOT_FOUND for an unknown key ID", async () => {
    await expect(as("attacker").keys.revoke({ params: { id: "99999" } })).rejects.toMatchObject({ code: "KEY_NOT_FOUND", status: 404 });
  });
});
