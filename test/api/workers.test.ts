import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { settledDigest } from "../support/settled-digest.js";

let daemon: TestDaemon;
let root: Client;
let team: Client;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
  const body = {
    name: "team",
    role: "custom",
    permissions: ["workers:read", "workers:install", "workers:remove"],
    namespaces: ["@team", "@shared"],
  };
  team = connect(daemon.url, (await root.keys.create({ body: body as never })).data.key);
  for (const name of ["@team/app", "@teams/app", "@other/app", "plain", "team"]) await install(root, name);
});

afterAll(() => daemon.dispose());

async function install(client: Client, name: string, version = "1.0.0"): Promise<unknown> {
  const archive = await packFiles({ "manifest.yaml": manifestOf(name, version), "index.html": name });
  return client.workers.upload({ file: uploadOf("@team-app.tgz", archive) });
}

const files = () => settledDigest(path.join(daemon.directory, "workers"));
const uploadedNames = async (client: Client) =>
  (await client.workers.list()).filter(({ source }) => source === "uploaded").map(({ name }) => name);

describe("a key restricted to a namespace", () => {
  const denied = expect.objectContaining({ code: "NAMESPACE_DENIED", status: 403 });

  test("lists only workers in its namespaces", async () => {
    expect(await team.workers.list()).toMatchObject([{ name: "@team/app" }]);
    expect(await uploadedNames(root)).toEqual(expect.arrayContaining(["@team/app", "@teams/app", "@other/app", "plain", "team"]));
  });

  test.each(["@other/app", "@other/new", "@teams/new", "plain", "new", "team"])(
    "cannot install the worker %s, and the rejected upload leaves no file",
    async (name) => {
      const before = await files();

      await expect(install(team, name, "2.0.0")).rejects.toEqual(denied);

      expect(await files()).toBe(before);
    },
  );

  test("can install, disable, enable and delete a worker in its namespaces", async () => {
    const version = { scope: "@shared", name: "tool", version: "1.0.0" };
    await install(team, "@shared/tool");

    expect((await team.workers.disable({ params: version })).data).toEqual({ name: "@shared/tool", version: "1.0.0", enabled: false });
    expect(await team.workers.list()).toMatchObject([{ name: "@shared/tool", disabledVersions: ["1.0.0"] }, { name: "@team/app" }]);
    expect((await team.workers.enable({ params: version })).data.enabled).toBe(true);
    expect(await team.workers.removeVersion({ params: version })).toEqual({ success: true });
    await install(team, "@shared/tool");
    expect(await team.workers.remove({ params: version })).toEqual({ success: true });
    expect(await uploadedNames(team)).toEqual(["@team/app"]);
  });

  test.each([
    ["@other", "app"],
    ["@teams", "app"],
    ["_", "plain"],
    ["_", "team"],
  ])("gets the same error for the worker %s/%s, whether the worker exists or not", async (scope, name) => {
    const before = await files();
    for (const target of [name, "not-installed"]) {
      const params = { scope, name: target, version: "1.0.0" };
      await expect(team.workers.enable({ params })).rejects.toEqual(denied);
      await expect(team.workers.disable({ params })).rejects.toEqual(denied);
      await expect(team.workers.removeVersion({ params })).rejects.toEqual(denied);
      await expect(team.workers.remove({ params })).rejects.toEqual(denied);
    }

    expect(await files()).toBe(before);
  });
});

test("the workers API returns different errors for an unknown worker and version", async () => {
  const missing = { scope: "@team", name: "missing", version: "1.0.0" };
  const otherVersion = { scope: "@team", name: "app", version: "9.9.9" };
  const { enable, disable, removeVersion, remove } = root.workers;

  for (const call of [enable, disable, removeVersion]) {
    await expect(call({ params: missing })).rejects.toMatchObject({ code: "WORKER_NOT_FOUND", status: 404 });
    await expect(call({ params: otherVersion })).rejects.toMatchObject({ code: "WORKER_VERSION_NOT_FOUND", status: 404 });
  }
  await expect(remove({ params: missing })).rejects.toMatchObject({ code: "WORKER_NOT_FOUND", status: 404 });
});
