import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { strFromU8, unzipSync } from "fflate";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect } from "../support/connect.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { treeDigest } from "../support/tree-digest.js";

let daemon: TestDaemon;
let root: Client;
let directory: string;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
  directory = path.join(daemon.directory, "data");
});
afterAll(() => daemon.dispose());

async function keyOf(permissions: readonly ["workers:read" | "workers:install" | "workers:remove"], namespaces = ["*"]): Promise<string> {
  const { data } = await root.keys.create({ body: { name: "key", role: "custom", permissions: [...permissions], namespaces } });
  return data.key;
}

async function storeData(name: string, files: Readonly<Record<string, string>> = { file: "content" }): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(directory, name, file)), { recursive: true });
    await writeFile(path.join(directory, name, file), text);
  }
}

async function call(
  method: string,
  name: string,
  key = daemon.rootKey,
): Promise<{ status: number; code: string | undefined; body: Buffer }> {
  const response = await fetch(`${daemon.url}/api/workers/${name}/data`, { method, headers: { "X-API-Key": key } });
  const body = Buffer.from(await response.arrayBuffer());
  const code = response.ok || method === "HEAD" ? undefined : (JSON.parse(body.toString()) as { error: { code: string } }).error.code;
  return { status: response.status, code, body };
}

describe("the list of data folders", () => {
  test("contains all folders with their sizes, including folders of deleted workers", async () => {
    await storeData("@list/gone", { "a/b": "x".repeat(10_000), c: "" });
    const { data } = await root.data.list();
    const found = data.find(({ worker }) => worker === "@list/gone");
    expect(found).toMatchObject({ entries: 3, full: false });
    expect(found?.sizeBytes).toBeGreaterThanOrEqual(10_000 + 3 * 4096);
    expect(found).not.toHaveProperty("limitBytes");
  });

  test("contains only folders of workers in the namespaces of the API key", async () => {
    await storeData("@list/mine");
    await storeData("@foreign/theirs");
    const { data } = await connect(daemon.url, await keyOf(["workers:read"], ["@list"])).data.list();
    expect(data.map(({ worker }) => worker)).toEqual(["@list/gone", "@list/mine"]);
  });
});

describe("the download of a data folder", () => {
  test("returns a zip archive of all files in the folder", async () => {
    await storeData("@get/app", { "a/b": "inner", c: "outer" });
    const { status, body } = await call("GET", "@get/app");
    expect(status).toBe(200);
    const entries = unzipSync(body);
    expect(Object.keys(entries).toSorted()).toEqual(["a/", "a/b", "c"]);
    expect(strFromU8(entries["a/b"] as Uint8Array)).toBe("inner");
  });

  test("leaves no temporary copy after a HEAD request or an aborted transfer", async () => {
    await storeData("@get/large", { file: "x".repeat(5_000_000) });
    await call("HEAD", "@get/large");
    const abort = new AbortController();
    const response = await fetch(`${daemon.url}/api/workers/@get/large/data`, {
      headers: { "X-API-Key": daemon.rootKey },
      signal: abort.signal,
    });
    expect(response.status).toBe(200);
    abort.abort();
    await expect.poll(async () => (await readdir(directory)).filter((name) => name.startsWith("."))).toEqual([]);
  });

  test("fails for a missing folder, in another namespace, or without workers:install", async () => {
    await storeData("@get/app");
    expect(await call("GET", "@get/app", await keyOf(["workers:read"]))).toMatchObject({ status: 403, code: "PERMISSION_DENIED" });
    expect(await call("GET", "@get/app", await keyOf(["workers:install"], ["@other"]))).toMatchObject({
      status: 403,
      code: "NAMESPACE_DENIED",
    });
    expect(await call("GET", "@get/none")).toMatchObject({ status: 404, code: "DATA_NOT_FOUND" });
    expect(await call("GET", "@get/..%2f..%2fstate")).toMatchObject({ status: 400, code: "INVALID_PACKAGE_NAME" });
  });
});

describe("the removal of a data folder", () => {
  test("deletes the folder of one worker and adds an entry to the audit log", async () => {
    await storeData("@remove/app");
    await storeData("@remove/other");
    expect(await call("DELETE", "@remove/app")).toMatchObject({ status: 200 });
    expect(await readdir(path.join(directory, "@remove"))).toEqual(["other"]);
    await expect.poll(async () => (await readdir(directory)).filter((name) => name.startsWith("."))).toEqual([]);
    const { entries } = await root.audit.list({ query: {} });
    expect(entries.find(({ action }) => action === "worker.data-removed")).toMatchObject({ subject: { name: "@remove/app" } });
    expect(await call("DELETE", "@remove/app")).toMatchObject({ status: 404, code: "DATA_NOT_FOUND" });
  });

  test("is rejected without workers:remove or outside of the key's namespaces", async () => {
    await storeData("@remove/kept");
    const before = await treeDigest(directory);
    expect(await call("DELETE", "@remove/kept", await keyOf(["workers:install"]))).toMatchObject({
      status: 403,
      code: "PERMISSION_DENIED",
    });
    expect(await call("DELETE", "@remove/kept", await keyOf(["workers:remove"], ["@other"]))).toMatchObject({
      status: 403,
      code: "NAMESPACE_DENIED",
    });
    expect(await treeDigest(directory)).toEqual(before);
  });
});
