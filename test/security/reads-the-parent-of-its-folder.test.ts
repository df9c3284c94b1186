import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { daemonUsers, startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

/** Tries to read a path below its sandbox folder with every function of Node. Responds with the result of each. */
const attacker = `
import fs from "node:fs";
import { createRequire } from "node:module";
const slot = process.argv[2];
const require = createRequire(import.meta.url);
export default { async fetch(request) {
  const target = slot + new URL(request.url).searchParams.get("path");
  const ways = {
    readFile: () => fs.readFileSync(target, "utf8"),
    buffer: () => fs.readFileSync(Buffer.from(target), "utf8"),
    url: () => fs.readFileSync(new URL("file://" + target), "utf8"),
    promise: () => fs.promises.readFile(target, "utf8"),
    open: () => fs.readFileSync(fs.openSync(target, "r"), "utf8"),
    stream: () => new Response(fs.createReadStream(target)).text(),
    readdir: () => fs.readdirSync(target).join(),
    opendir: () => fs.opendirSync(target).readSync().name,
    cp: () => fs.cpSync(target, slot + "/app/copy", { recursive: true }),
    import: async () => JSON.stringify(await import(target)),
    require: () => JSON.stringify(require(target)),
    blob: async () => (await fs.openAsBlob(target)).text(),
  };
  const results = {};
  for (const [name, way] of Object.entries(ways)) {
    try {
      results[name] = String(await way());
    } catch (error) {
      results[name] = error.code ?? error.name;
    }
  }
  return Response.json(results);
} };`;

const secret = "SECRET-OF-A-NEIGHBOR";
const refusals = [
  "ERR_ACCESS_DENIED",
  "MODULE_NOT_FOUND",
  "ERR_MODULE_NOT_FOUND",
  "ERR_UNSUPPORTED_DIR_IMPORT",
  "ENOENT",
  "ENOTDIR",
  "Error",
];

describe.each(daemonUsers)("workers of a daemon that runs as the user %s", (_, user) => {
  let daemon: TestDaemon;
  let client: Client;

  beforeAll(async () => {
    daemon = await startDaemon(user);
    client = connect(daemon.url, daemon.rootKey);
    const neighbor = `env:\n  SECRET: ${secret}\n`;
    await uploadWorker(client, "neighbor", { "index.js": `export default { fetch: () => new Response("${secret}") };` }, neighbor);
    await uploadWorker(client, "versioned", { "index.js": attacker, "folder/file.txt": "own", "data.json": '{"own":true}' });
    const other = await packFiles({
      "manifest.yaml": manifestOf("versioned", "0.9.0", neighbor),
      "index.js": "",
      "secret.mjs": `export default "${secret}"`,
    });
    await client.workers.upload({ file: uploadOf("package.tgz", other) });
    // The API cannot create a layout without versions, so the test writes it.
    const flat = path.join(daemon.directory, "workers/flat");
    await mkdir(flat);
    await writeFile(path.join(flat, "manifest.yaml"), "name: flat\n");
    await writeFile(path.join(flat, "index.js"), attacker);
    const victim = await packFiles({
      "manifest.yaml": manifestOf("victim-plugin", "1.0.0", `config:\n  password: ${secret}\n`),
      "plugin.js": "export default {};",
    });
    await client.plugins.upload({ file: uploadOf("package.tgz", victim) });
    const plugin = await packFiles({
      "manifest.yaml": manifestOf("app-plugin", "1.0.0", "base: /app-plugin\nentrypoint: index.js\n"),
      "index.js": attacker,
    });
    await client.plugins.upload({ file: uploadOf("package.tgz", plugin) });
    await vi.waitFor(async () => expect((await fetch(`${daemon.url}/flat/?path=/app`)).status).toBe(200), { timeout: 15_000 });
  });
  afterAll(() => daemon.dispose());

  const attack = async (name: string, target: string): Promise<Record<string, string>> =>
    (await (await fetch(`${daemon.url}/${name}/?${new URLSearchParams({ path: target }).toString()}`)).json()) as Record<string, string>;

  it.each([
    ["versioned", "/app/..", "its other versions"],
    ["versioned", "/app/../0.9.0/manifest.yaml", "the manifest of another version"],
    ["versioned", "/app/../0.9.0/secret.mjs", "the code of another version"],
    ["versioned", "/app/../../neighbor/1.0.0/manifest.yaml", "a neighbor's manifest"],
    ["versioned", "/app/folder/../../../neighbor/1.0.0/index.js", "a neighbor's code through its own folder"],
    ["versioned", "/app/./..//../neighbor/1.0.0/manifest.yaml", "a neighbor's manifest in another spelling"],
    ["versioned", "/package/../../neighbor/1.0.0/manifest.yaml", "a neighbor's manifest by the hidden link"],
    ["versioned", "/bundle.mjs/../app/../0.9.0/manifest.yaml", "another version by the name of its bundle"],
    ["versioned", "/..", "the folder of all sandbox folders"],
    ["flat", "/app/..", "the list of all workers"],
    ["flat", "/app/../neighbor/1.0.0/manifest.yaml", "a neighbor's manifest from a flat folder"],
    ["app-plugin", "/app/..", "the list of all plugins"],
    ["app-plugin", "/app/../victim-plugin/manifest.yaml", "another plugin's password"],
  ])("in the package %s cannot read the path %s (target: %s)", async (name, target) => {
    const results = await attack(name, target);
    expect(Object.entries(results).filter(([, result]) => !refusals.includes(result))).toEqual([]);
    expect(results["readFile"]).toBe("ERR_ACCESS_DENIED");
  });

  it("can read their own folder by a path that contains .. but stays inside the folder", async () => {
    expect(await attack("versioned", "/app/folder/../data.json")).toMatchObject({
      readFile: '{"own":true}',
      buffer: '{"own":true}',
      promise: '{"own":true}',
      require: '{"own":true}',
    });
    expect((await attack("versioned", "/app"))["readdir"]).toBe(".installed.json,data.json,folder,index.js,manifest.yaml");
  });
});
