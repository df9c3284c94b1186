import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ApiError } from "../../../../src/shared/api-error.js";
import type { Client } from "../../../../src/shared/client.js";
import { connect, uploadOf } from "../../../support/connect.js";
import { manifestOf, packFiles } from "../../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../../support/start-daemon.js";
import { treeDigest } from "../../../support/tree-digest.js";
import { writeTree } from "../../../support/write-tree.js";

let daemon: TestDaemon;
let client: Client;
beforeAll(async () => {
  daemon = await startDaemon();
  client = connect(daemon.url, daemon.rootKey);
});
afterAll(() => daemon.dispose());

const folder = "workers/app/1.0.0";
const good = manifestOf("app", "1.0.0");
const unusable: readonly (readonly [what: string, text: string, place: string])[] = [
  ["invalid YAML", "name: app\nversion: 1.0.0\nenv: {A: 1\n", "(line 4, column 1)"],
  ["a duplicate key", "name: app\nversion: 1.0.0\nname: app\n", "(line 3, column 1)"],
  ["a list", "- name: app\n", "(line 1, column 1)"],
  ["a field of the wrong type", "name: app\nversion: 1.0.0\ntimeout: soon\n", "(line 3, column 10)"],
  ["a nested field of the wrong type", "name: app\nversion: 1.0.0\ncron:\n  - schedule: 5\n    endpoint: /x\n", "(line 4, column 15)"],
  ["a schedule that is never due", 'name: app\nversion: 1.0.0\ncron:\n  - schedule: "61 * * * *"\n    endpoint: /x\n', "cron.0.schedule"],
];

const install = async () => {
  const files = { "manifest.yaml": good, "index.html": "served", "spare.yaml": "name: [\n", "lib/bad/manifest.yaml": "name: [\n" };
  await client.workers.upload({ file: uploadOf("app.tgz", await packFiles(files)) });
};
const write = (name: string, text: string) =>
  client.workerFiles.upload({ fields: { path: folder }, files: [uploadOf(name, Buffer.from(text))] });
const served = async () => await (await fetch(`${daemon.url}/app/`)).text();

/** Returns the rejection of a change and checks that nothing changed. */
async function refusalOf(change: () => Promise<unknown>): Promise<ApiError> {
  const root = path.join(daemon.directory, "workers/app");
  const before = await treeDigest(root);
  const error = await change().then(
    () => new Error("it was done"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ApiError);
  expect(await treeDigest(root)).toBe(before);
  expect(await served()).toBe("served");
  return error as ApiError;
}

describe("an invalid worker manifest", () => {
  beforeEach(install);

  test.each(unusable)("is rejected when a client uploads the file (defect: %s)", async (_, text, place) => {
    const error = await refusalOf(() => write("manifest.yaml", text));
    expect(error.code).toBe("INVALID_PACKAGE_METADATA");
    expect(error.message).toContain(place);
  });

  test("is rejected in package.json and manifest.yml, with the position of the error", async () => {
    const json = await refusalOf(() => write("package.json", '{\n  "name": "app",\n}'));
    expect(json.message).toContain("package.json cannot be used: it is not valid JSON (line 3, column 1)");
    expect((await refusalOf(() => write("manifest.yml", "name: [\n"))).code).toBe("INVALID_PACKAGE_METADATA");
  });

  test("is rejected when a client renames or moves a file to the name of a manifest", async () => {
    await client.workerFiles.remove({ body: { path: `${folder}/manifest.yaml` } }).catch(() => undefined);
    await install();
    const rename = () => client.workerFiles.rename({ body: { path: `${folder}/spare.yaml`, newName: "manifest.yml" } });
    expect((await refusalOf(rename)).code).toBe("INVALID_PACKAGE_METADATA");
    const move = () => client.workerFiles.move({ body: { path: `${folder}/spare.yaml`, destPath: `${folder}/manifest.yml` } });
    expect((await refusalOf(move)).code).toBe("INVALID_PACKAGE_METADATA");
    await write("other.txt", "moved");
    const { data } = (await client.workerFiles.moveBatch({
      body: { paths: [`${folder}/lib/bad/manifest.yaml`, `${folder}/other.txt`], destPath: `${folder}/lib` },
    })) as { data?: unknown };
    expect(data, "a file that is not a manifest of the package moves").toBeUndefined();
  });

  test("causes the rejection of all other files in the same upload", async () => {
    const files = [uploadOf("manifest.yaml", Buffer.from("name: [\n")), uploadOf("index.html", Buffer.from("new"))];
    const error = await refusalOf(() => client.workerFiles.upload({ fields: { path: folder }, files }));
    expect(error.code).toBe("INVALID_PACKAGE_METADATA");
  });

  test("prevents the deletion of a valid manifest that has priority over the invalid one", async () => {
    await write("manifest.yaml", `${good}publicRoutes: []\n`);
    const files = [uploadOf("package.json", Buffer.from('{ "name": "app", "version": "1.0" }'))];
    await client.workerFiles.upload({ fields: { path: folder }, files });
    const error = await refusalOf(() => client.workerFiles.remove({ body: { path: `${folder}/manifest.yaml` } }));
    expect(error.code).toBe("INVALID_PACKAGE_VERSION");
  });

  test("can be replaced by a valid manifest", async () => {
    await write("manifest.yaml", `${good}timeout: 5s\n`);
    expect(await readFile(path.join(daemon.directory, "workers/app/1.0.0/manifest.yaml"), "utf8")).toContain("timeout: 5s");
    expect(await served()).toBe("served");
  });
});

test("the files API accepts uploads that repair an invalid package file by file", async () => {
  await writeTree(path.join(daemon.directory, "workers/broken/1.0.0"), {
    "manifest.yaml": "name: [\n",
    "package.json": "{",
    "index.html": "mended",
  });
  await expect.poll(async () => (await client.workers.list()).map(({ name }) => name)).toContain("broken");
  const at = { path: "workers/broken/1.0.0" };
  await client.workerFiles.upload({ fields: at, files: [uploadOf("package.json", Buffer.from("{}"))] });
  await client.workerFiles.upload({ fields: at, files: [uploadOf("manifest.yaml", Buffer.from(manifestOf("broken", "1.0.0")))] });
  await expect.poll(async () => await (await fetch(`${daemon.url}/broken/`)).text()).toBe("mended");
});

test("the files API rejects an invalid manifest of a plugin or of a plugin override", async () => {
  const plugin = {
    "manifest.yaml": manifestOf("teller", "1.0.0", "base: /teller\n"),
    "plugin.js": "export default { routes: { fetch: () => new Response('told') } };",
  };
  await client.plugins.upload({ file: uploadOf("teller.tgz", await packFiles(plugin)) });
  await client.plugins.enable({ params: { name: "plugin-gateway" } });
  const save = (name: string, text: string) =>
    client.pluginFiles.upload({ fields: { path: `plugins/${name}` }, files: [uploadOf("manifest.yaml", Buffer.from(text))] });
  await expect(save("teller", "name: teller\nbase: teller\n")).rejects.toMatchObject({ code: "INVALID_PACKAGE_METADATA" });
  await expect(save("plugin-gateway", "name: plugin-gateway\nenabled: yes please\n")).rejects.toMatchObject({
    code: "INVALID_PACKAGE_METADATA",
  });
  expect(await (await fetch(`${daemon.url}/teller/`)).text()).toBe("told");
  expect((await client.plugins.list()).filter(({ status }) => status === "failed")).toEqual([]);
});
