import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../../src/shared/client.js";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { daemonUsers, startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { askStorage, storageWorker } from "../../support/storage-worker.js";
import { uploadWorker } from "../../support/upload-worker.js";

const files = { "index.js": storageWorker, "package.json": '{"type":"module"}' };

describe.each(daemonUsers)("the data folder of a worker (daemon user: %s)", (_, user) => {
  let daemon: TestDaemon;
  let client: Client;
  const ask = (name: string, act: string, query = {}) => askStorage(`${daemon.url}/${name}/`, act, query);

  beforeAll(async () => {
    daemon = await startDaemon(user);
    client = connect(daemon.url, daemon.rootKey);
    await uploadWorker(client, "@team/shop", files, "data: 10mb\n");
    await uploadWorker(client, "plain", files);
  });
  afterAll(() => daemon.dispose());

  it("has its path in env.DATA_DIR and process.env.DATA_DIR", async () => {
    const folder = path.join(daemon.directory, "data/@team/shop");
    expect((await ask("@team/shop", "folders")).result).toMatchObject({ data: folder, variable: folder });
    expect((await ask("plain", "folders")).result).not.toHaveProperty("data");
  });

  it("keeps its files after an upload of a new version and a restart of the daemon", async () => {
    expect(await ask("@team/shop", "write", { name: "kept", text: "first" })).toEqual({ result: null });
    const next = await packFiles({ ...files, "manifest.yaml": manifestOf("@team/shop", "1.1.0", "data: 10mb\n") });
    await client.workers.upload({ file: uploadOf("package.tgz", next) });
    expect(await ask("@team/shop", "read", { name: "kept" })).toEqual({ result: "first" });

    await daemon.stop();
    daemon = await startDaemon({ ...user, directory: daemon.directory });
    client = connect(daemon.url, daemon.rootKey);
    expect(await ask("@team/shop", "read", { name: "kept" })).toEqual({ result: "first" });
  });

  it("supports node:sqlite databases in WAL mode", async () => {
    expect(await ask("@team/shop", "insert", { name: "shop.db" })).toEqual({ result: 1 });
    expect(await ask("@team/shop", "insert", { name: "shop.db" })).toEqual({ result: 2 });
  });

  it("is not readable, writable or listable by another worker", async () => {
    await ask("@team/shop", "write", { name: "secret", text: "SECRET" });
    const folder = path.join(daemon.directory, "data/@team/shop");
    for (const [act, query] of [
      ["read", { name: "secret", folder }],
      ["write", { name: "secret", folder }],
      ["list", { folder }],
      ["list", { folder: path.dirname(folder) }],
      ["insert", { name: "shop.db", folder }],
      ["delete", { folder }],
    ] as const) {
      const { code } = await ask("plain", act, query);
      expect(code, act).toMatch(/^(ERR_ACCESS_DENIED|ERR_SQLITE_ERROR|EACCES)$/);
    }
    expect(await ask("@team/shop", "read", { name: "secret" })).toEqual({ result: "SECRET" });
  });

  it("remains after the worker is deleted, until a client deletes the folder", async () => {
    await uploadWorker(client, "temporary", files, "data: 1mb\n");
    await ask("temporary", "write", { name: "a" });
    await client.workers.remove({ params: { scope: "_", name: "temporary" } });
    const { data } = await client.data.list();
    expect(data.find(({ worker }) => worker === "temporary")).toMatchObject({ entries: 1, full: false });
    await client.data.remove({ params: { scope: "_", name: "temporary" } });
    expect(await readdir(path.join(daemon.directory, "data"))).toEqual(["@team"]);
  });

  it("is empty after a client deletes the data during requests, which all succeed", async () => {
    const done = new AbortController();
    const failures: unknown[] = [];
    const load = async (): Promise<void> => {
      while (!done.signal.aborted) {
        const { code } = await ask("@team/shop", "write", { name: "load" });
        if (code !== undefined) failures.push(code);
      }
    };
    const running = [load(), load()];
    await client.data.remove({ params: { scope: "@team", name: "shop" } });
    await expect.poll(() => ask("@team/shop", "list")).toEqual({ result: ["load"] });
    done.abort();
    await Promise.all(running);
    expect(failures).toEqual([]);
  });

  it("can be deleted while an isolate starts, and the waiting request succeeds", async () => {
    const slow = `await new Promise((resolve) => setTimeout(resolve, 1000)); export default { fetch: () => new Response("loaded") };`;
    await uploadWorker(client, "slow", { "index.js": slow, "package.json": files["package.json"] }, "data: 1mb\n");
    const response = fetch(`${daemon.url}/slow/`);
    await expect
      .poll(() =>
        stat(path.join(daemon.directory, "data/slow")).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
    await delay(300);
    await client.data.remove({ params: { scope: "_", name: "slow" } });
    expect(await (await response).text()).toBe("loaded");
  });

  it("remains unchanged when the daemon runs uploaded code to check the upload", async () => {
    const changing = `import fs from "node:fs"; import path from "node:path";
      fs.writeFileSync(path.join(process.env.DATA_DIR, "changed-by-check"), "");
      export default { fetch: () => new Response("new") };`;
    const archive = await packFiles({
      "index.js": changing,
      "package.json": files["package.json"],
      "manifest.yaml": manifestOf("@team/shop", "2.0.0", "data: 10mb\n"),
    });
    await client.workers.upload({ file: uploadOf("package.tgz", archive), query: { check: "true" } });
    expect(await readdir(path.join(daemon.directory, "data/@team/shop"))).not.toContain("changed-by-check");
  });

  it("is not created when the worker requests more than RUNTIME_WORKER_DATA_MAX", async () => {
    await expect(uploadWorker(client, "large", files, "data: 2gb\n")).rejects.toMatchObject({
      code: "INVALID_PACKAGE_METADATA",
      message: expect.stringContaining("RUNTIME_WORKER_DATA_MAX") as string,
    });
    expect((await client.workers.list()).map(({ name }) => name)).not.toContain("large");
    await expect(stat(path.join(daemon.directory, "data/large"))).rejects.toThrow("ENOENT");
  });
});
