import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import type { TestInstance } from "../../support/start-instances.js";
import { clusterTestMs, expectSoon, readText, soonMs, startOciInstances, type OciInstances } from "../../support/start-oci-instances.js";

let instances: OciInstances;

beforeAll(async () => {
  instances = await startOciInstances();
});

afterAll(() => instances.dispose());

const codeOf = (text: string) => `export default { routes: { fetch: () => new Response(${JSON.stringify(text)}) } };`;
const greeter = { name: "greeter" };

async function upload({ client }: TestInstance, code: string, more = ""): Promise<void> {
  const manifest = manifestOf("greeter", "1.0.0", `base: /hello\n${more}`);
  await client.plugins.upload({ file: uploadOf("plugin.tgz", await packFiles({ "manifest.yaml": manifest, "plugin.js": code })) });
}

const shown = async ({ client }: TestInstance, name: string) => (await client.plugins.list()).find((plugin) => plugin.name === name);

test(
  "a plugin is loaded, replaced, toggled, edited and deleted on both daemons",
  async () => {
    const [a, c] = await Promise.all([instances.start("a"), instances.start("c")]);
    await upload(a, codeOf("one"));
    expect(await readText(a, "hello")).toBe("one");
    const began = performance.now();
    await expectSoon(c, "hello", "one");
    expect(performance.now() - began).toBeLessThan(soonMs);
    await upload(c, codeOf("two"));
    await expectSoon(a, "hello", "two");
    await a.client.plugins.disable({ params: greeter });
    await expectSoon(c, "hello", 404);
    expect(await shown(c, "greeter")).toMatchObject({ enabled: false, status: "disabled" });
    await c.client.plugins.enable({ params: greeter });
    await expectSoon(a, "hello", "two");
    const fields = { path: "plugins/greeter" };
    await a.client.pluginFiles.upload({ files: [uploadOf("plugin.js", Buffer.from(codeOf("three")))], fields });
    expect(await readText(a, "hello")).toBe("three");
    await expectSoon(c, "hello", "three");

    // A new daemon loads the plugin before it serves requests.
    const late = await instances.start("late");
    expect(await readText(late, "hello")).toBe("three");
    await late.stop();
    await c.client.plugins.remove({ params: greeter });
    await expectSoon(a, "hello", 404);
    await expect
      .poll(() => existsSync(path.join(path.dirname(instances.workersOf("a")), "plugins/greeter")), { timeout: soonMs })
      .toBe(false);
    await Promise.all([a.stop(), c.stop()]);
  },
  clusterTestMs,
);

test(
  "changes of a built-in plugin's settings and state take effect on both daemons",
  async () => {
    const [a, c] = await Promise.all([instances.start("d"), instances.start("e")]);
    const params = { name: "plugin-gateway" };
    const before = await shown(c, params.name);
    expect(before).toMatchObject({ removable: false });
    const isEnabled = before?.enabled === true;
    const toggle = (on: TestInstance, enabled: boolean) =>
      enabled ? on.client.plugins.enable({ params }) : on.client.plugins.disable({ params });
    await toggle(a, !isEnabled);
    await expect.poll(() => shown(c, params.name), { timeout: soonMs }).toMatchObject({ enabled: !isEnabled, removable: true });
    await toggle(c, isEnabled);
    await expect.poll(() => shown(a, params.name), { timeout: soonMs }).toMatchObject({ enabled: isEnabled, removable: false });
    const { etag, fields } = await a.client.pluginConfig.show({ params });
    expect(fields).toContainEqual(expect.objectContaining({ name: "rateLimitHeaders", value: false }));
    await a.client.pluginConfig.change({ params, body: { etag, set: { rateLimitHeaders: true } } });
    await expect
      .poll(async () => (await c.client.pluginConfig.show({ params })).yaml, { timeout: soonMs })
      .toContain("rateLimitHeaders: true");
    await Promise.all([a.stop(), c.stop()]);
  },
  clusterTestMs,
);

test(
  "a daemon that cannot load a changed plugin keeps the old plugin and logs why",
  async () => {
    const [a, c] = await Promise.all([instances.start("f"), instances.start("g")]);
    await upload(a, codeOf("old"));
    await expectSoon(c, "hello", "old");
    // The working directory of a daemon is its own folder.
    await writeFile(path.join(instances.workersOf("g"), "../broken-here"), "");
    const code = `import { existsSync } from "node:fs";\nif (existsSync("broken-here")) throw new Error("not on this machine");\n`;
    await upload(a, code + codeOf("new"));
    expect(await readText(a, "hello")).toBe("new");
    await expect.poll(() => c.output(), { timeout: soonMs }).toContain("the previous plugin stays active");
    expect(await readText(c, "hello")).toBe("old");
    const file = path.join(instances.workersOf("g"), "../plugins/greeter/plugin.js");
    expect(await readFile(file, "utf8")).toContain("old");
    // The next change replaces the plugin.
    await upload(a, codeOf("newer"));
    await expectSoon(c, "hello", "newer");
    await a.client.plugins.remove({ params: greeter });
    await Promise.all([a.stop(), c.stop()]);
  },
  clusterTestMs,
);

test(
  "a plugin folder copied by hand stays in use on its daemon until it is deleted",
  async () => {
    const folder = path.join(instances.workersOf("k"), "../plugins/greeter");
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, "manifest.yaml"), manifestOf("greeter", "1.0.0", "base: /hello\n"));
    await writeFile(path.join(folder, "plugin.js"), codeOf("local"));
    const a = await instances.start("j");
    let c = await instances.start("k");
    await upload(a, codeOf("shared"));
    const checks = async () => (await c.client.health.ready({ query: { verbose: "1" } })).checks;
    await expect
      .poll(checks, { timeout: soonMs })
      .toContainEqual(
        expect.objectContaining({ name: "package-store", message: expect.stringContaining("contains a local plugin") as string }),
      );
    // The first pause before another attempt is 1 s.
    await delay(2000);
    expect(c.output().match(/could not be installed/g)).toHaveLength(1);
    expect([await readText(a, "hello"), await readText(c, "hello")]).toEqual(["shared", "local"]);
    await c.stop();
    await rm(folder, { recursive: true });
    c = await instances.start("k");
    expect(await readText(c, "hello")).toBe("shared");
    await a.client.plugins.remove({ params: greeter });
    await Promise.all([a.stop(), c.stop()]);
  },
  clusterTestMs,
);

test(
  "without the registry, a daemon loads downloaded plugins and rejects an upload",
  async () => {
    const a = await instances.start("h");
    let c = await instances.start("i");
    await upload(a, codeOf("kept"));
    await expectSoon(c, "hello", "kept");
    await instances.registry.kill();
    await c.stop();
    c = await instances.start("i");
    expect(await readText(c, "hello")).toBe("kept");
    await expect(upload(c, codeOf("lost"))).rejects.toMatchObject({ code: "PACKAGE_STORE_UNAVAILABLE", status: 503 });
    expect([await readText(a, "hello"), await readText(c, "hello")]).toEqual(["kept", "kept"]);
    await a.client.plugins.disable({ params: greeter });
    await expectSoon(c, "hello", 404);
    await instances.registry.restart();
    await Promise.all([a.stop(), c.stop()]);
  },
  clusterTestMs,
);

test(
  "a plugin that cannot be downloaded is listed as failed, and can be disabled and deleted",
  async () => {
    const a = await instances.start("l");
    await upload(a, codeOf("guarded"));
    const folder = path.join(instances.workersOf("l"), "../plugins/greeter");
    await instances.registry.kill();
    const c = await instances.start("m");
    const reason = expect.stringContaining("The daemon cannot download the files of greeter, because the registry") as string;
    expect(await shown(c, "greeter")).toMatchObject({
      enabled: true,
      status: "failed",
      error: reason,
      health: { state: "failing", reason },
    });
    expect((await fetch(`${c.url}/api/health/ready`)).status).toBe(200);
    const { checks } = await c.client.health.ready({ query: { verbose: "1" } });
    expect(checks).toContainEqual(expect.objectContaining({ name: "package-store", status: "degraded", message: reason }));
    expect((await c.client.instances.list()).find(({ isSelf }) => isSelf)).toMatchObject({ state: "ready", problem: reason });
    const { etag } = await c.client.pluginConfig.show({ params: greeter });
    await expect(c.client.pluginConfig.change({ params: greeter, body: { etag, yaml: "name: greeter\n" } })).rejects.toMatchObject({
      code: "PACKAGE_UNAVAILABLE",
    });
    await c.client.plugins.disable({ params: greeter });
    expect(await shown(c, "greeter")).toMatchObject({ enabled: false, status: "disabled" });
    await expectSoon(a, "hello", 404);
    await c.client.plugins.enable({ params: greeter });
    const listed = await shown(c, "greeter");
    expect(listed).toMatchObject({ enabled: true, status: "failed" });
    expect(listed).not.toHaveProperty("local");
    await instances.registry.restart();
    await expectSoon(c, "hello", "guarded");
    expect(await shown(c, "greeter")).toMatchObject({ version: "1.0.0", status: "loaded" });

    const { digest } = JSON.parse(await readFile(path.join(folder, ".installed.json"), "utf8")) as { digest: string };
    await rm(instances.registry.blobFile(digest));
    const d = await instances.start("n");
    expect((await shown(d, "greeter"))?.error).toMatch(/does not have the blob sha256:[0-9a-f]{64}\. Upload the same package again\.$/);
    await upload(a, codeOf("guarded"));
    await expectSoon(d, "hello", "guarded");
    await instances.registry.kill();
    const e = await instances.start("o");
    await e.client.plugins.remove({ params: greeter });
    expect(await shown(e, "greeter")).toBeUndefined();
    for (const daemon of [a, c, d]) await expectSoon(daemon, "hello", 404);
    await instances.registry.restart();
    await Promise.all([a.stop(), c.stop(), d.stop(), e.stop()]);
  },
  clusterTestMs,
);
