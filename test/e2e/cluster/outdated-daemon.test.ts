import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import type { TestInstance } from "../../support/start-instances.js";
import { clusterTestMs, soonMs, startOciInstances, uploadText, type OciInstances } from "../../support/start-oci-instances.js";

let instances: OciInstances;
let a: TestInstance;
/** Receives the changes of the other daemon only after a change of its own, or when it fetches them. */
let b: TestInstance;

beforeAll(async () => {
  instances = await startOciInstances();
  const keyFile = path.join(instances.workersOf("a"), "../../secrets-key");
  await writeFile(keyFile, randomBytes(32).toString("base64"), { mode: 0o600 });
  const variables = { RUNTIME_SECRETS_KEY_FILE: keyFile };
  a = await instances.start("a", variables);
  b = await instances.start("b", { ...variables, RUNTIME_AUTH_DB_SYNC_INTERVAL: "1m" });
});

afterAll(() => instances.dispose());

const host = { host: "shop.example.org" };
const hostsOf = async ({ client }: TestInstance) => (await client.hosts.list()).hosts.map(({ worker }) => worker);
const versionOf = (name: string) => ({ scope: "_", name, version: "1.0.0" });

test(
  "a daemon changes hosts, secrets and keys that another daemon has just created",
  async () => {
    await a.client.hosts.add({ params: host, body: { worker: "shop" } });
    await b.client.hosts.remove({ params: host });
    expect(await hostsOf(b)).toEqual([]);
    await expect.poll(() => hostsOf(a), { timeout: soonMs }).toEqual([]);

    await a.client.hosts.add({ params: host, body: { worker: "shop" } });
    await b.client.hosts.add({ params: host, body: { worker: "shop", version: "^1" } });
    await expect.poll(async () => (await a.client.hosts.list()).hosts[0]?.version, { timeout: soonMs }).toBe("^1");
    await a.client.hosts.remove({ params: host });
    await b.client.hosts.add({ params: host, body: { worker: "other" } });
    expect(await hostsOf(b)).toEqual(["other"]);

    const secret = { scope: "_", name: "shop", key: "TOKEN" };
    await a.client.secrets.set({ params: secret, body: { value: "x" } });
    await b.client.secrets.remove({ params: secret });
    expect((await b.client.secrets.list({ params: secret })).secrets).toEqual([]);

    const { data } = await a.client.keys.create({ body: { name: "of a", role: "viewer", namespaces: ["@team"] } });
    await b.client.keys.revoke({ params: { id: String(data.id) } });
    const { entries } = await b.client.audit.list({ query: { action: "key.revoked", instance: "self" } });
    expect(entries).toMatchObject([{ outcome: "done", subject: { id: data.id, name: "of a", namespaces: ["@team"] } }]);
  },
  clusterTestMs,
);

test(
  "a daemon changes workers and plugins that another daemon has just installed",
  async () => {
    await uploadText(a, "toggled", "1.0.0", "x");
    await b.client.workers.disable({ params: versionOf("toggled") });
    await uploadText(a, "restarted", "1.0.0", "x");
    expect((await b.client.workers.restart({ params: versionOf("restarted") })).data.restarted).toBe(0);
    await uploadText(a, "edited", "1.0.0", "x");
    await b.client.workerFiles.rename({ body: { path: "workers/edited/1.0.0/index.js", newName: "index.mjs" } });
    await uploadText(a, "deleted", "1.0.0", "x");
    await b.client.workers.removeVersion({ params: versionOf("deleted") });
    const workers = async () =>
      (await a.client.workers.list()).flatMap(({ name, source, disabledVersions }) =>
        source === "uploaded" ? [[name, disabledVersions]] : [],
      );
    await expect.poll(workers, { timeout: soonMs }).toEqual([
      ["edited", []],
      ["restarted", []],
      ["toggled", ["1.0.0"]],
    ]);

    const plugin = { "manifest.yaml": manifestOf("greeter", "1.0.0", "base: /hello\n"), "plugin.js": "export default {};" };
    await a.client.plugins.upload({ file: uploadOf("plugin.tgz", await packFiles(plugin)) });
    await b.client.plugins.disable({ params: { name: "greeter" } });
    const isEnabled = async () => (await a.client.plugins.list()).find(({ name }) => name === "greeter")?.enabled;
    await expect.poll(isEnabled, { timeout: soonMs }).toBe(false);
  },
  clusterTestMs,
);

test(
  "a change of a missing object fails with 503 while the primary does not respond",
  async () => {
    const viewer = connect(b.url, (await b.client.keys.create({ body: { name: "viewer", role: "viewer" } })).data.key);
    // Ends the sync after the new key, so that this daemon does not receive the next upload.
    await expect(b.client.hosts.remove({ params: { host: "none.example.org" } })).rejects.toMatchObject({ code: "HOST_NOT_FOUND" });
    await uploadText(a, "late", "1.0.0", "x");
    await instances.sqld.freeze();
    try {
      const began = performance.now();
      const disable = b.client.workers.disable({ params: versionOf("late") });
      await expect(disable).rejects.toMatchObject({
        code: "KEY_STORE_UNAVAILABLE",
        status: 503,
        message: expect.stringContaining("Nothing was changed"),
      });
      const remove = b.client.hosts.remove({ params: { host: "none.example.org" } });
      await expect(remove).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE" });
      // The limit of each change is 2 s. The rest is for a slow machine.
      expect(performance.now() - began).toBeLessThan(8_000);

      const params = { pid: "999999" };
      await expect(b.client.isolates.stop({ params })).rejects.toMatchObject({ code: "ISOLATE_NOT_FOUND" });
      await expect(b.client.workers.logs({ params: versionOf("none"), query: { instance: "self" } })).rejects.toMatchObject({
        code: "WORKER_NOT_FOUND",
      });
      await expect(viewer.hosts.remove({ params: host })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
      await expect(connect(b.url, "unknown").hosts.remove({ params: host })).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
    } finally {
      instances.sqld.thaw();
    }
    const disabled = async () => b.client.workers.disable({ params: versionOf("late") }).then(({ data }) => data.enabled);
    await expect.poll(disabled, { timeout: soonMs }).toBe(false);
  },
  clusterTestMs,
);
