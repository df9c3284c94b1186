import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request } from "undici";
import { fromBufferPromise } from "yauzl";
import { connect, uploadOf } from "../../../support/connect.js";
import { manifestOf, packFiles } from "../../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../../support/start-daemon.js";

const secret = "sk_live_of_the_manifest";
const masked = ["workers:read", "plugins:read"] as const;
const unit = "workers/@team/shop/1.0.0";

let daemon: TestDaemon;
let viewer: string;
let editor: string;

beforeAll(async () => {
  daemon = await startDaemon();
  const root = connect(daemon.url, daemon.rootKey);
  const create = async (permissions: readonly ("workers:read" | "plugins:read" | "workers:install" | "plugins:install")[]) =>
    (await root.keys.create({ body: { name: "a reader", role: "custom", permissions: [...permissions] } })).data.key;
  viewer = await create(masked);
  editor = await create([...masked, "workers:install", "plugins:install"]);
  const env = `env: { KEY: ${secret} }\n`;
  const files = { "package.json": JSON.stringify({ env: { OTHER: secret } }), "lib/a/b/c/manifest.yaml": "env: { KEY: not a manifest }\n" };
  const worker = await packFiles({ ...files, "manifest.yaml": manifestOf("@team/shop", "1.0.0", env), "index.js": "" });
  await root.workers.upload({ file: uploadOf("worker.tgz", worker) });
  const plugin = await packFiles({ "manifest.yaml": manifestOf("@team/guard", "1.0.0", env), "plugin.js": "export default {};" });
  await root.plugins.upload({ file: uploadOf("plugin.tgz", plugin) });
});
afterAll(() => daemon.dispose());

const get = (key: string, path: string, headers: Record<string, string> = {}) =>
  request(`${daemon.url}/api/${path}`, { headers: { "x-api-key": key, ...headers } });

/** Returns all texts of a zip, by name. */
async function unzip(key: string, path: string): Promise<Map<string, string>> {
  const response = await get(key, path);
  expect(response.statusCode).toBe(200);
  const zip = await fromBufferPromise(Buffer.from(await response.body.arrayBuffer()));
  const texts = new Map<string, string>();
  for await (const entry of zip.eachEntry())
    if (!entry.fileName.endsWith("/")) texts.set(entry.fileName, await text(await zip.openReadStreamPromise(entry)));
  return texts;
}

test.each(["manifest.yaml", "package.json"])("the files API masks env values in %s for a key without install permission", async (name) => {
  const path = `workers/files/download?path=${unit}/${name}`;
  const whole = await get(viewer, path);
  const body = await whole.body.text();
  expect(body).toMatch(/(KEY|OTHER)"?: "\*\*\*"/);
  expect(body).not.toContain(secret);
  expect(whole.headers["content-length"]).toBe(String(Buffer.byteLength(body)));
  const part = await get(viewer, path, { range: "bytes=5-20" });
  expect([part.statusCode, await part.body.text()]).toEqual([206, body.slice(5, 21)]);
  const original = await get(editor, path);
  expect(await original.body.text()).toContain(secret);
  expect(whole.headers["etag"]).not.toBe(original.headers["etag"]);
  const unchanged = await get(viewer, path, { "if-none-match": String(whole.headers["etag"]) });
  expect(unchanged.statusCode).toBe(304);
});

test.each([
  "workers/files/download?path=workers",
  "workers/files/download?path=workers/@team/shop",
  `workers/files/download?path=${unit}`,
  `workers/files/download-batch?paths=${unit}&paths=${unit}/manifest.yaml`,
  `workers/files/download-batch?paths=${unit}/package.json&paths=${unit}/package.json`,
  "plugins/files/download?path=plugins",
  "plugins/files/download?path=plugins/@team/guard",
])("the ZIP from %s masks env values for a key without install permission", async (path) => {
  const shown = await unzip(viewer, path);
  expect([...shown.values()].filter((content) => content.includes("***")).length).toBeGreaterThan(0);
  expect([...shown.values()].join("\n")).not.toContain(secret);
  const deep = [...shown].find(([name]) => name.endsWith("lib/a/b/c/manifest.yaml"));
  if (deep) expect(deep[1]).toBe("env: { KEY: not a manifest }\n");
  const original = await unzip(editor, path);
  expect([...original.values()].join("\n")).toContain(secret);
  expect([...original.keys()].toSorted()).toEqual([...shown.keys()].toSorted());
});
