import { readFile, rm, statfs, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { variables } from "../../src/server/config/config-variables.js";
import { connect } from "../support/connect.js";
import { createSender } from "../support/send.js";
import { startDaemon } from "../support/start-daemon.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

test("the settings contain directories, isolation layers and sources of all variables", async () => {
  const daemon = await startDaemon({ env: { RUNTIME_POOL_SIZE: "20" } });
  try {
    const settings = await connect(daemon.url, daemon.rootKey).settings.show();

    expect(settings.variables.map(({ name }) => name)).toEqual(variables.map(({ name }) => name));
    const byName = new Map(settings.variables.map((variable) => [variable.name, variable]));
    expect(byName.get("RUNTIME_POOL_SIZE")).toMatchObject({ value: "20", source: "environment", isSecret: false });
    expect(byName.get("RUNTIME_MAX_BODY_SIZE")).toMatchObject({ value: "100mb", source: "default" });
    expect(byName.get("RUNTIME_PANEL_HOST")).toMatchObject({ value: null, source: "default" });
    expect(byName.get("RUNTIME_ROOT_KEY")).toMatchObject({ value: null, source: "environment", isSecret: true });
    expect(settings.directories.map(({ kind }) => kind)).toEqual(["state", "data", "workers", "plugins"]);
    const { blocks, bsize } = await statfs(daemon.directory);
    for (const { freeBytes, totalBytes, isWritable, path: directory } of settings.directories) {
      expect(directory.startsWith(daemon.directory)).toBe(true);
      expect(totalBytes).toBe(blocks * bsize);
      expect(freeBytes).toBeGreaterThan(0);
      expect(freeBytes).toBeLessThanOrEqual(totalBytes);
      expect(isWritable, directory).toBe(true);
    }
    expect(settings.isolation.map(({ name }) => name)).toContain("landlock");
    expect(Math.abs(Date.now() / 1000 - settings.startedAt)).toBeLessThan(60);
    await rm(path.join(daemon.directory, "plugins"), { recursive: true });
    const { directories } = await connect(daemon.url, daemon.rootKey).settings.show();
    expect(directories.find(({ kind }) => kind === "plugins")).toMatchObject({ isWritable: false, totalBytes: blocks * bsize });
  } finally {
    await daemon.dispose();
  }
});

test("the settings contain no secret and require an admin key for all namespaces", async () => {
  const directory = await temporaryDirectory();
  const keyFile = path.join(directory, "key-of-the-root");
  await writeFile(keyFile, "the-content-of-the-key-file");
  const daemon = await startDaemon({ env: { RUNTIME_ROOT_KEY_FILE: keyFile, RUNTIME_AUTH_DB_SYNC_TOKEN: "token-of-the-database" } });
  const send = createSender(daemon.url);
  try {
    const root = connect(daemon.url, "the-content-of-the-key-file");
    const keyOf = async (role: "admin" | "editor" | "viewer", namespaces = ["*"]) =>
      (await root.keys.create({ body: { name: role, role, namespaces } })).data.key;

    const { text, status } = await send({ path: "/api/settings", headers: { "x-api-key": await keyOf("admin") } });

    expect(status).toBe(200);
    const secretsKey = await readFile(path.join(daemon.directory, "state/secrets.key"), "utf8").catch(() => "no such key");
    for (const secret of ["the-content-of-the-key-file", daemon.rootKey, "token-of-the-database", secretsKey.trim()])
      expect(text).not.toContain(secret);
    expect(JSON.parse(text)).toMatchObject({
      variables: expect.arrayContaining([
        expect.objectContaining({ name: "RUNTIME_ROOT_KEY", value: null, source: "file" }),
        expect.objectContaining({ name: "RUNTIME_ROOT_KEY_FILE", value: keyFile, source: "environment" }),
        expect.objectContaining({ name: "RUNTIME_AUTH_DB_SYNC_TOKEN", value: null, source: "environment" }),
      ]),
    });
    for (const role of ["editor", "viewer"] as const)
      await expect(connect(daemon.url, await keyOf(role)).settings.show()).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    await expect(connect(daemon.url, await keyOf("admin", ["@team"])).settings.show()).rejects.toMatchObject({ code: "NAMESPACE_DENIED" });
  } finally {
    await send.close();
    await daemon.dispose();
  }
});
