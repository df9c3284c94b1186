import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { createSender, expectRefusal } from "../support/send.js";
import { settledDigest } from "../support/settled-digest.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

let daemon: TestDaemon;
let root: Client;
let team: Client;
let send: ReturnType<typeof createSender>;

beforeAll(async () => {
  daemon = await startDaemon();
  send = createSender(daemon.url);
  root = connect(daemon.url, daemon.rootKey);
  const body = { name: "team", role: "editor" as const, namespaces: ["@team", "@shared"] };
  team = connect(daemon.url, (await root.keys.create({ body })).data.key);
  for (const name of ["@team/guard", "@teams/guard", "@other/guard", "plain"]) await install(root, name);
});

afterAll(async () => {
  await send.close();
  await daemon.dispose();
});

async function install(client: Client, name: string, more = ""): Promise<unknown> {
  const archive = await packFiles({ "manifest.yaml": manifestOf(name, "1.0.0", more), "plugin.js": "export default {};\n" });
  return client.plugins.upload({ file: uploadOf("@team-guard.tgz", archive) });
}

const folder = () => path.join(daemon.directory, "plugins");
const files = () => settledDigest(folder());
const uploadedNames = async (client: Client) =>
  (await client.plugins.list()).filter(({ source }) => source === "uploaded").map(({ name }) => name);

describe("a key restricted to a namespace", () => {
  const denied = expect.objectContaining({ code: "NAMESPACE_DENIED", status: 403 });

  test("sees only plugins of its namespaces in lists and in the result of a reload", async () => {
    expect(await team.plugins.list()).toMatchObject([{ name: "@team/guard", removable: true, source: "uploaded", version: "1.0.0" }]);
    expect((await team.plugins.loaded()).every(({ name }) => name === "@team/guard")).toBe(true);
    expect((await team.plugins.reload()).data.plugins).toMatchObject([{ name: "@team/guard", version: "1.0.0" }]);
    expect(await uploadedNames(root)).toEqual(["@other/guard", "@team/guard", "@teams/guard", "plain"]);
  });

  test.each(["@other/guard", "@other/new", "@teams/new", "plain", "new", "team"])(
    "cannot install the plugin %s, and the rejected upload leaves no file",
    async (name) => {
      const before = await files();
      await expect(install(team, name, "limit: 2\n")).rejects.toEqual(denied);
      expect(await files()).toBe(before);
    },
  );

  test.each(["@other/guard", "@teams/guard", "plain", "team", "@other/not-installed"])(
    "gets the same error for the plugin %s, whether the plugin exists or not",
    async (name) => {
      const before = await files();
      for (const operation of ["enable", "disable", "remove"] as const) {
        await expect(team.plugins[operation]({ params: { name } })).rejects.toEqual(denied);
      }
      expect(await files()).toBe(before);
    },
  );

  test("can install, disable, enable and delete a plugin in its namespaces", async () => {
    const params = { name: "@shared/tool" };
    await install(team, params.name, "# ours\n");
    const manifest = path.join(folder(), "@shared/tool/manifest.yaml");
    const text = await readFile(manifest, "utf8");

    expect((await team.plugins.disable({ params })).data).toEqual({ name: "@shared/tool", enabled: false });
    expect(await team.plugins.list()).toMatchObject([
      { name: "@shared/tool", enabled: false, status: "disabled", path: path.dirname(manifest) },
      { name: "@team/guard", enabled: true },
    ]);
    expect((await team.plugins.enable({ params })).data).toEqual({ name: "@shared/tool", enabled: true });
    expect(await readFile(manifest, "utf8")).toBe(`enabled: true\n${text}`);
    expect(await team.plugins.remove({ params })).toEqual({ success: true });
    await expect(team.plugins.remove({ params })).rejects.toMatchObject({ code: "PLUGIN_NOT_FOUND" });
    await expect(team.plugins.enable({ params })).rejects.toMatchObject({ code: "PLUGIN_NOT_FOUND" });
    expect(await uploadedNames(team)).toEqual(["@team/guard"]);
  });
});

test("the plugins API rejects a name with several path segments or with ..", async () => {
  const headers = { "x-api-key": daemon.rootKey };
  const call = (name: string) => send({ method: "POST", path: `/api/plugins/${name}/enable`, headers });

  for (const name of ["@team%2fguard", "@team%2Fguard", "%40team%2Fguard", "plain"]) expect((await call(name)).status, name).toBe(200);
  expectRefusal(await call("@team/guard"), "NOT_FOUND");
  for (const name of ["..%2fp", "%2e%2e%2fp", "@team%2f..", "_%2fplain", "@team", "@team%2fguard%2fx"])
    expectRefusal(await call(name), "INVALID_PACKAGE_NAME", name);
});

test("a plugin without a manifest cannot be enabled or disabled", async () => {
  const archive = await packFiles({ "package.json": '{"name":"npm","version":"2.0.0"}', "index.js": "export default {};\n" });
  expect((await root.plugins.upload({ file: uploadOf("a.tgz", archive) })).data.plugin).toEqual({
    name: "npm",
    version: "2.0.0",
    installedAt: path.join(folder(), "npm"),
  });

  for (const operation of ["enable", "disable"] as const)
    await expect(root.plugins[operation]({ params: { name: "npm" } })).rejects.toMatchObject({ code: "PLUGIN_MANIFEST_NOT_FOUND" });

  expect(await root.plugins.remove({ params: { name: "npm" } })).toEqual({ success: true });
});

test("a plugin with an invalid manifest is listed as failed, with the reason", async () => {
  await install(root, "spoiled");
  const manifest = path.join(folder(), "spoiled/manifest.yaml");
  await writeFile(manifest, "name: spoiled\nbase: /api\n");
  await root.plugins.reload();

  const [row] = (await root.plugins.list()).filter(({ name }) => name === "spoiled");

  expect(row).toMatchObject({ status: "failed", error: expect.stringContaining("/api") as string });
  await root.plugins.remove({ params: { name: "spoiled" } });
});
