import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

/** Returns the requested variable from `env` and from `process.env`; with `wait`, after 1.5 s. */
const app = `export default { async fetch(request, env) {
  const { searchParams } = new URL(request.url);
  if (searchParams.has("wait")) await new Promise((resolve) => setTimeout(resolve, 1500));
  const name = searchParams.get("name");
  return Response.json([env[name] ?? null, process.env[name] ?? null]);
} };`;

let daemon: TestDaemon;
let root: Client;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
});
afterAll(() => daemon.dispose());

async function deploy(name: string, { version = "1.0.0", manifest = "" } = {}): Promise<void> {
  const archive = await packFiles({ "index.js": app, "manifest.yaml": manifestOf(`@shop/${name}`, version, manifest) });
  await root.workers.upload({ file: uploadOf("package.tgz", archive) });
}
const set = (name: string, key: string, value: string, stage = false) =>
  root.secrets.set({ params: { scope: "@shop", name, key }, body: { value, stage } });
const setForAll = (key: string, value: string) => root.secrets.setOfNamespace({ params: { namespace: "@shop", key }, body: { value } });
const remove = (name: string, key: string, force?: "true") =>
  root.secrets.remove({ params: { scope: "@shop", name, key }, query: { force } });
const list = (name: string) => root.secrets.list({ params: { scope: "@shop", name } });
async function read(name: string, variable: string): Promise<unknown> {
  const response = await fetch(`${daemon.url}/@shop/${name}/?name=${variable}`);
  const values = (await response.json()) as unknown[];
  if (!Array.isArray(values)) return values;
  expect(values[0]).toBe(values[1]);
  return values[0];
}
const code = (expected: string) => expect.objectContaining({ error: expect.objectContaining({ code: expected }) as unknown }) as unknown;

describe("the value of a secret", () => {
  test("is in `env` and `process.env`, even if the secret is set while the worker runs", async () => {
    await set("reads", "STRIPE_KEY", "before the upload");
    await deploy("reads");
    expect(await read("reads", "STRIPE_KEY")).toBe("before the upload");
    await set("reads", "STRIPE_KEY", 'two\nlines, tab\t, "quotes" and €');
    expect(await read("reads", "STRIPE_KEY")).toBe('two\nlines, tab\t, "quotes" and €');
    await remove("reads", "STRIPE_KEY");
    expect(await read("reads", "STRIPE_KEY")).toBe(null);
  });

  test("comes from the worker's secret, else the namespace's secret, else the manifest", async () => {
    await deploy("layers", { manifest: "env: { LAYER: manifest }\n" });
    expect(await read("layers", "LAYER")).toBe("manifest");
    await setForAll("LAYER", "namespace");
    expect(await read("layers", "LAYER")).toBe("namespace");
    await set("layers", "LAYER", "worker");
    expect(await read("layers", "LAYER")).toBe("worker");
    await remove("layers", "LAYER");
    expect(await read("layers", "LAYER")).toBe("namespace");
    await root.secrets.removeOfNamespace({ params: { namespace: "@shop", key: "LAYER" } });
    expect(await read("layers", "LAYER")).toBe("manifest");
  });

  test("takes effect at the next upload when set with stage: true", async () => {
    await deploy("staged");
    await set("staged", "TOKEN", "old");
    await set("staged", "TOKEN", "new", true);
    expect(await read("staged", "TOKEN")).toBe("old");
    expect((await list("staged")).secrets.map(({ name, staged }) => [name, staged])).toEqual([
      ["TOKEN", false],
      ["TOKEN", true],
    ]);
    await deploy("staged", { version: "1.1.0" });
    expect(await read("staged", "TOKEN")).toBe("new");
    expect((await list("staged")).secrets.map(({ staged }) => staged)).toEqual([false]);
  });

  test("is the complete old or new value in each of 2,000 requests during changes", async () => {
    await set("busy", "TURN", "0");
    await deploy("busy");
    let turn = 0;
    const seen = new Set<unknown>();
    const caller = async () => {
      for (let index = 0; index < 100; index += 1) seen.add(await read("busy", "TURN"));
    };
    const changer = async () => {
      for (turn = 1; turn <= 10; turn += 1) await set("busy", "TURN", String(turn));
    };
    await Promise.all([changer(), ...Array.from({ length: 20 }, caller)]);
    expect([...seen].filter((value) => !/^\d+$/.test(String(value)))).toEqual([]);
    expect(await read("busy", "TURN")).toBe("10");
  });
});

describe("a required secret", () => {
  const manifest = "secrets: [NEEDED, { name: DEBUG, optional: true }]\n";

  test("prevents an upload when the secret has no value, and the upload changes nothing", async () => {
    await deploy("needs");
    await expect(deploy("needs", { version: "2.0.0", manifest })).rejects.toMatchObject({
      code: "SECRET_MISSING",
      status: 409,
      details: { missing: ["NEEDED"] },
    });
    expect((await root.workers.list()).find(({ name }) => name === "@shop/needs")?.versions).toEqual(["1.0.0"]);
    await set("needs", "NEEDED", "staged counts", true);
    await deploy("needs", { version: "2.0.0", manifest });
    expect(await read("needs", "NEEDED")).toBe("staged counts");
  });

  test("can be removed only with force=true while an active version requires the secret", async () => {
    await set("keeps", "NEEDED", "x");
    await deploy("keeps", { manifest });
    await expect(remove("keeps", "NEEDED")).rejects.toMatchObject({ code: "SECRET_IN_USE", status: 409 });
    expect(await read("keeps", "NEEDED")).toBe("x");
    await setForAll("NEEDED", "from the namespace");
    await remove("keeps", "NEEDED");
    expect(await read("keeps", "NEEDED")).toBe("from the namespace");
    const ofAll = { namespace: "@shop", key: "NEEDED" };
    await expect(root.secrets.removeOfNamespace({ params: ofAll })).rejects.toMatchObject({ code: "SECRET_IN_USE" });
    const inFlight = read("keeps", "NEEDED&wait");
    await delay(500);
    await root.secrets.removeOfNamespace({ params: ofAll, query: { force: "true" } });
    expect((await list("keeps")).missing).toEqual(["NEEDED"]);
    expect(await read("keeps", "NEEDED")).toEqual(code("WORKER_START_FAILED"));
    expect(await inFlight).toBe("from the namespace");
    const version = { scope: "@shop", name: "keeps", version: "1.0.0" };
    await root.workers.disable({ params: version });
    await expect(root.workers.enable({ params: version })).rejects.toMatchObject({ code: "SECRET_MISSING" });
    await set("keeps", "NEEDED", "again");
    await root.workers.enable({ params: version });
    expect(await read("keeps", "NEEDED")).toBe("again");
  });
});

const editedManifest = (more: string) => manifestOf("@shop/edited", "1.0.0", more);
const writeEdited = (name: string, content: string) =>
  root.workerFiles.upload({
    fields: { path: "workers/@shop/edited/1.0.0", paths: [name] },
    files: [uploadOf(name, Buffer.from(content))],
  });

test("an edit of a manifest is rejected when a required secret has no value", async () => {
  await deploy("edited");
  await expect(writeEdited("manifest.yaml", editedManifest("secrets: [NEEDED]\n"))).rejects.toMatchObject({
    code: "SECRET_MISSING",
    status: 409,
  });
  await set("edited", "NEEDED", "x");
  await writeEdited("manifest.yaml", editedManifest("secrets: [NEEDED]\n"));
  await remove("edited", "NEEDED", "true");
  await writeEdited("notes.txt", "changed");
  await writeEdited("manifest.yaml", editedManifest(""));
  expect(await read("edited", "NEEDED")).toBe(null);
});

describe("the secrets API", () => {
  test("lists names, authors and times, but never values", async () => {
    await set("listed", "A_KEY", "value-of-a");
    await setForAll("B_KEY", "value-of-b");
    const { secrets } = await list("listed");
    expect(secrets.filter(({ name }) => /^[AB]_KEY$/.test(name))).toEqual([
      { name: "A_KEY", source: "worker", staged: false, setAt: expect.any(Number) as number, setBy: "root" },
      { name: "B_KEY", source: "namespace", staged: false, setAt: expect.any(Number) as number, setBy: "root" },
    ]);
    await root.secrets.removeOfNamespace({ params: { namespace: "@shop", key: "B_KEY" } });
    await expect(remove("listed", "ABSENT")).rejects.toMatchObject({ code: "SECRET_NOT_FOUND", status: 404 });
  });

  test("rejects calls by keys of other namespaces with NAMESPACE_DENIED", async () => {
    const { data } = await root.keys.create({ body: { name: "other", role: "admin", namespaces: ["@other"] } });
    const other = connect(daemon.url, data.key);
    const denied = { code: "NAMESPACE_DENIED", status: 403 };
    await expect(other.secrets.list({ params: { scope: "@shop", name: "listed" } })).rejects.toMatchObject(denied);
    await expect(other.secrets.listOfNamespace({ params: { namespace: "@shop" } })).rejects.toMatchObject(denied);
    await expect(other.secrets.setOfNamespace({ params: { namespace: "@shop", key: "A" }, body: { value: "x" } })).rejects.toMatchObject(
      denied,
    );
    await expect(other.secrets.removeOfNamespace({ params: { namespace: "@shop", key: "A" } })).rejects.toMatchObject(denied);
    await expect(other.secrets.rotateKey()).rejects.toMatchObject(denied);
  });

  test("writes names of secrets, but no values, to the audit log and events", async () => {
    const { data } = await root.keys.create({ body: { name: "team reader", role: "viewer", namespaces: ["@shop"] } });
    await set("logged", "A_KEY", "value-of-a");
    await remove("logged", "A_KEY");
    await setForAll("B_KEY", "value-of-b");
    await root.secrets.removeOfNamespace({ params: { namespace: "@shop", key: "B_KEY" } });
    await expect(set("logged", "C_KEY", "value\u0000of-c")).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    const worker = { name: "@shop/logged", secret: "A_KEY" };
    const namespace = { namespaces: ["@shop"], secret: "B_KEY" };
    const changes = [
      ["secret.set", worker],
      ["secret.removed", worker],
      ["secret.set", namespace],
      ["secret.removed", namespace],
    ];
    const { entries } = await root.audit.list({ query: { action: "secret", limit: 5 } });
    expect(entries.map(({ action, subject }) => [action, subject])).toEqual([
      ...changes,
      ["secret.set", { name: "@shop/logged", secret: "C_KEY" }],
    ]);
    const reader = connect(daemon.url, data.key);
    const controller = new AbortController();
    const seen: unknown[] = [];
    const following = (async () => {
      for await (const event of reader.events.stream.follow({ query: { type: "secret", since: "1h" } }, { signal: controller.signal }))
        if (event.subject) seen.push([event.type, event.subject]);
    })().catch(() => undefined);
    await expect.poll(() => seen.slice(-4)).toEqual(changes);
    controller.abort();
    await following;
    expect(JSON.stringify([entries, seen])).not.toMatch(/value.{0,6}of-/);
  });

  test("limits the number and size of a worker's secrets", async () => {
    for (const key of ["BIG_1", "BIG_2"]) await set("large", key, "x".repeat(32 * 1024));
    await expect(set("large", "BIG_3", "x")).rejects.toMatchObject({ code: "TOO_MANY_SECRETS", status: 409 });
    await deploy("large");
    expect(await read("large", "BIG_2")).toHaveLength(32 * 1024);
    for (let index = 0; index < 100; index += 1) await set("many", `KEY_${index}`, "x");
    await expect(set("many", "KEY_100", "x")).rejects.toMatchObject({ code: "TOO_MANY_SECRETS" });
    await set("many", "KEY_99", "replaced");
  });
});

test("the daemon can decrypt all secrets after a key rotation and a restart", async () => {
  await set("rotates", "KEPT", "kept");
  await set("rotates", "LATER", "later", true);
  await deploy("waits");
  const { data: first } = await root.secrets.rotateKey();
  const { data: second } = await root.secrets.rotateKey();
  expect(second.keyId).not.toBe(first.keyId);
  expect(second.reencrypted).toBe(first.reencrypted);
  expect(second.reencrypted).toBeGreaterThan(1);
  await daemon.stop();
  const { directory } = daemon;
  daemon = await startDaemon({ directory });
  root = connect(daemon.url, daemon.rootKey);
  await deploy("rotates");
  expect([await read("rotates", "KEPT"), await read("rotates", "LATER")]).toEqual(["kept", "later"]);
});
