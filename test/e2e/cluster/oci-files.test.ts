import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import type { TestInstance } from "../../support/start-instances.js";
import {
  clusterTestMs,
  expectSoon,
  readText,
  soonMs,
  startOciInstances,
  uploadText,
  type OciInstances,
} from "../../support/start-oci-instances.js";

let instances: OciInstances;
let a: TestInstance;
let c: TestInstance;

beforeAll(async () => {
  instances = await startOciInstances();
  [a, c] = await Promise.all([instances.start("a"), instances.start("c")]);
});

afterAll(() => instances.dispose());

const appOf = (text: string) => Buffer.from(`export default { fetch: () => new Response(${JSON.stringify(text)}) };`);
const save = ({ client }: TestInstance, file: string, content: Uint8Array, ifMatch?: string) =>
  client.workerFiles.upload({
    files: [uploadOf(path.basename(file), content)],
    fields: { path: `workers/${path.dirname(file)}`, ...(ifMatch !== undefined && { ifMatch: [ifMatch] }) },
  });
const digestOn = async (daemon: string, version: string) =>
  (JSON.parse(await readFile(path.join(instances.workersOf(daemon), version, ".installed.json"), "utf8")) as { digest: string }).digest;
const etagOf = async ({ url, rootKey }: TestInstance, file: string) => {
  const response = await fetch(`${url}/api/workers/files/download?path=workers/${file}`, { headers: { "x-api-key": rootKey } });
  await response.arrayBuffer();
  return response.headers.get("etag") ?? "";
};

test(
  "two daemons serve a saved file, and reject a save with an outdated ETag",
  async () => {
    await uploadText(a, "app", "1.0.0", "first");
    const listed = async () => (await c.client.workers.list()).map(({ name }) => name);
    await expect.poll(listed, { timeout: soonMs }).toContain("app");
    // This daemon has not downloaded the version yet.
    expect(existsSync(path.join(instances.workersOf("c"), "app"))).toBe(false);
    await save(c, "app/1.0.0/index.js", appOf("saved"));
    expect(await readText(c, "app")).toBe("saved");
    await expectSoon(a, "app", "saved");

    const etag = await etagOf(a, "app/1.0.0/index.js");
    const other = await etagOf(a, "app/1.0.0/manifest.yaml");
    await save(a, "app/1.0.0/index.js", appOf("again"), etag);
    await expect(save(a, "app/1.0.0/index.js", appOf("lost"), etag)).rejects.toMatchObject({ code: "PRECONDITION_FAILED", status: 412 });
    // A file that did not change keeps its ETag.
    expect(await etagOf(a, "app/1.0.0/manifest.yaml")).toBe(other);
    expect(await readText(a, "app")).toBe("again");
    await expectSoon(c, "app", "again");
    expect(await digestOn("c", "app/1.0.0")).toBe(await digestOn("a", "app/1.0.0"));
  },
  clusterTestMs,
);

test(
  "new folders, renamed files and deleted versions take effect on both daemons",
  async () => {
    await uploadText(a, "tree", "1.0.0", "tree");
    await expectSoon(c, "tree", "tree");
    const folder = "workers/tree/1.0.0";
    await c.client.workerFiles.mkdir({ body: { path: `${folder}/empty/inner` } });
    await save(c, "tree/1.0.0/empty/note.txt", Buffer.from("note"));
    await c.client.workerFiles.rename({ body: { path: `${folder}/empty/note.txt`, newName: "renamed.txt" } });
    const renamed = path.join(instances.workersOf("a"), "tree/1.0.0/empty/renamed.txt");
    await expect.poll(() => existsSync(renamed), { timeout: soonMs }).toBe(true);
    expect(existsSync(path.join(path.dirname(renamed), "inner"))).toBe(true);
    expect(existsSync(path.join(path.dirname(renamed), "note.txt"))).toBe(false);
    await a.client.workerFiles.remove({ body: { path: folder } });
    expect(await readText(a, "tree")).toBe(404);
    await expectSoon(c, "tree", 404);
  },
  clusterTestMs,
);

test(
  "a change of the configuration takes effect on both daemons",
  async () => {
    const app = "export default { fetch: (request, env) => new Response(env.GREETING) };";
    const manifest = manifestOf("greet", "1.0.0", "env:\n  GREETING: hello\n");
    await a.client.workers.upload({ file: uploadOf("package.tgz", await packFiles({ "index.js": app, "manifest.yaml": manifest })) });
    const params = { scope: "_", name: "greet", version: "1.0.0" };
    await expect.poll(() => c.client.workerConfig.show({ params }).then(({ yaml }) => yaml), { timeout: soonMs }).toContain("hello");
    const { etag } = await c.client.workerConfig.show({ params });
    await c.client.workerConfig.change({ params, body: { etag, set: { env: { GREETING: "good day" } } } });
    expect(await readText(c, "greet")).toBe("good day");
    await expectSoon(a, "greet", "good day");
    const stale = c.client.workerConfig.change({ params, body: { etag, set: { timeout: "5s" } } });
    await expect(stale).rejects.toMatchObject({ code: "PRECONDITION_FAILED", status: 412 });
    const renamed = save(c, "greet/1.0.0/manifest.yaml", Buffer.from(manifestOf("greet", "2.0.0")));
    await expect(renamed).rejects.toMatchObject({ code: "INVALID_PACKAGE_METADATA", status: 400 });
    expect(await readText(c, "greet")).toBe("good day");
  },
  clusterTestMs,
);

test(
  "two daemons serve the same content after simultaneous changes of one file",
  async () => {
    await uploadText(a, "race", "1.0.0", "none");
    await expectSoon(c, "race", "none");
    for (let round = 0; round < 5; round += 1) {
      const saves = await Promise.allSettled([
        save(a, "race/1.0.0/index.js", appOf(`a ${round}`)),
        save(c, "race/1.0.0/index.js", appOf(`c ${round}`)),
      ]);
      expect(saves.some(({ status }) => status === "fulfilled")).toBe(true);
      for (const saved of saves)
        if (saved.status === "rejected")
          expect(["PRECONDITION_FAILED", "CHANGE_CONFLICT"]).toContain((saved.reason as { code: string }).code);
      await expect.poll(async () => (await readText(a, "race")) === (await readText(c, "race")), { timeout: soonMs }).toBe(true);
      expect(await readText(a, "race")).toMatch(new RegExp(`^[ac] ${round}$`));
    }
  },
  clusterTestMs,
);

test(
  "saving a file fails and changes nothing while the registry is stopped",
  async () => {
    await uploadText(a, "steady", "1.0.0", "steady");
    const digest = await digestOn("a", "steady/1.0.0");
    await instances.registry.kill();
    const saving = save(a, "steady/1.0.0/index.js", appOf("lost"));
    await expect(saving).rejects.toMatchObject({ code: "PACKAGE_STORE_UNAVAILABLE", status: 503 });
    await instances.registry.restart();
    expect(await readText(a, "steady")).toBe("steady");
    expect(await digestOn("a", "steady/1.0.0")).toBe(digest);
  },
  clusterTestMs,
);
