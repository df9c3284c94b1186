import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import type { TestInstance } from "../../support/start-instances.js";
import { expectSoon, readText, soonMs, startOciInstances, uploadText, type OciInstances } from "../../support/start-oci-instances.js";

const rounds = 10;
const timeoutMs = 10 * 60_000;

let instances: OciInstances;

beforeAll(async () => {
  instances = await startOciInstances();
});

afterAll(() => instances.dispose());

const changes = {
  /** Uploads the worker. */
  "an upload": (daemon: TestInstance, text: string) => uploadText(daemon, "app", "1.0.0", text),
  /** Saves the file of the worker. */
  "a saved file": async ({ client }: TestInstance, text: string) => {
    const code = Buffer.from(`export default { fetch: () => new Response(${JSON.stringify(text)}) };`);
    await client.workerFiles.upload({ files: [uploadOf("index.js", code)], fields: { path: "workers/app/1.0.0" } });
  },
  /** Uploads a plugin with the path of the worker. */
  "a plugin": async ({ client }: TestInstance, text: string) => {
    const code = `export default { routes: { fetch: () => new Response(${JSON.stringify(text)}) } };`;
    const manifest = manifestOf("greeter", "1.0.0", "base: /greeter\n");
    await client.plugins.upload({ file: uploadOf("plugin.tgz", await packFiles({ "manifest.yaml": manifest, "plugin.js": code })) });
  },
};

test.each(Object.entries(changes))(
  `two daemons serve the same confirmed content after ${rounds} kills during %s`,
  async (what, change) => {
    const other = await instances.start("other");
    let daemon = await instances.start("killed");
    const name = what === "a plugin" ? "greeter" : "app";
    if (what === "a saved file") await uploadText(daemon, "app", "1.0.0", "before");
    let confirmed = "none";
    const began = performance.now();
    await change(daemon, confirmed);
    const changeMs = performance.now() - began;
    let cut = 0;
    for (let round = 0; round < rounds; round += 1) {
      const text = `${what} ${round}`;
      const changing = change(daemon, text).then(
        () => true,
        () => false,
      );
      await delay(Math.random() * 1.3 * changeMs);
      await daemon.kill();
      const isConfirmed = await changing;
      if (!isConfirmed) cut += 1;
      daemon = await instances.start("killed");
      const valid = isConfirmed ? [text] : [confirmed, text];
      await expect.poll(() => readText(daemon, name), { timeout: soonMs }).toSatisfy((now: string) => valid.includes(now));
      await expect
        .poll(async () => (await readText(other, name)) === (await readText(daemon, name)), { timeout: soonMs, interval: 50 })
        .toBe(true);
      confirmed = String(await readText(daemon, name));
      await expectSoon(other, name, confirmed);
      expect(valid).toContain(confirmed);
    }
    expect(cut).toBeGreaterThan(0);
    await Promise.all([other.stop(), daemon.stop()]);
  },
  timeoutMs,
);
