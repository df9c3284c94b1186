import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import type { TestInstance } from "../../support/start-instances.js";
import { clusterTestMs, expectSoon, readText, soonMs, startOciInstances, type OciInstances } from "../../support/start-oci-instances.js";

const fileBytes = 400 * 1024;
const cacheSize = "1mb";

let instances: OciInstances;

beforeAll(async () => {
  instances = await startOciInstances();
});

afterAll(() => instances.dispose());

async function upload({ client }: TestInstance, name: string, files: Record<string, string>): Promise<void> {
  const archive = await packFiles({ ...files, "manifest.yaml": manifestOf(name, "1.0.0"), "data.bin": randomBytes(fileBytes) });
  await client.workers.upload({ file: uploadOf("package.tgz", archive) });
}

test(
  "a full cache deletes the least recently used version and downloads it on request",
  async () => {
    const daemon = await instances.start("a", { RUNTIME_CACHE_SIZE: cacheSize });
    const folderOf = (name: string) => path.join(instances.workersOf("a"), name, "1.0.0");
    const gone = (name: string) => expect.poll(() => existsSync(folderOf(name)), { timeout: soonMs }).toBe(false);
    const local = folderOf("local");
    await mkdir(local, { recursive: true });
    await writeFile(path.join(local, "manifest.yaml"), manifestOf("local", "1.0.0"));
    await writeFile(path.join(local, "index.html"), Buffer.alloc(2 * 1024 * 1024, "l"));
    await upload(daemon, "busy", { "index.js": 'export default { fetch: () => new Response("busy") };' });
    expect(await readText(daemon, "busy")).toBe("busy");
    await upload(daemon, "one", { "index.html": "one" });
    expect(await readText(daemon, "one")).toContain("one");
    await upload(daemon, "two", { "index.html": "two" });
    await gone("one");
    expect(["busy", "two", "local"].filter((name) => existsSync(folderOf(name)))).toEqual(["busy", "two", "local"]);
    // The daemon still lists the version.
    expect((await daemon.client.workers.list()).map(({ name }) => name)).toContain("one");
    expect(await readText(daemon, "one")).toContain("one");
    await gone("two");
    expect(existsSync(local)).toBe(true);

    const { digest } = JSON.parse(await readFile(path.join(folderOf("one"), ".installed.json"), "utf8")) as { digest: string };
    await rm(instances.registry.blobFile(digest));
    await upload(daemon, "three", { "index.html": "three" });
    await expect.poll(() => daemon.output(), { timeout: soonMs }).toContain("the registry has no archive of this version");
    expect(existsSync(folderOf("one"))).toBe(true);
    expect(await readText(daemon, "one")).toContain("one");
    await daemon.stop();
  },
  clusterTestMs,
);

test(
  "each site is served correctly while the cache deletes and downloads versions",
  async () => {
    const daemon = await instances.start("b", { RUNTIME_CACHE_SIZE: "900kb" });
    const names = ["red", "green", "blue"];
    for (const name of names) await upload(daemon, name, { "index.html": name });
    for (let round = 0; round < 30; round += 1) {
      const name = names[round % names.length] as string;
      const texts = await Promise.all([readText(daemon, name), readText(daemon, name), readText(daemon, name)]);
      for (const text of texts) expect(text).toContain(name);
    }
    await instances.registry.kill();
    await daemon.stop();
    const again = await instances.start("b", { RUNTIME_CACHE_SIZE: "900kb" });
    const present = names.filter((name) => existsSync(path.join(instances.workersOf("b"), name, "1.0.0")));
    expect(present.length).toBeGreaterThan(0);
    for (const name of present) await expectSoon(again, name, await readText(again, name));
    await instances.registry.restart();
    await again.stop();
  },
  clusterTestMs,
);
