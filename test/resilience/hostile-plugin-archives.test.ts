import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { settledDigest } from "../support/settled-digest.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { hostileArchives } from "./packages/hostile-archives.js";

let daemon: TestDaemon;
let root: Client;
let before: string;
let listed: unknown;

beforeAll(async () => {
  daemon = await startDaemon();
  root = connect(daemon.url, daemon.rootKey);
  const archive = await packFiles({ "manifest.yaml": manifestOf("victim", "1.0.0"), "plugin.js": "export default {};\n" });
  await root.plugins.upload({ file: uploadOf("victim.tgz", archive) });
  before = await settledDigest(path.join(daemon.directory, "plugins"));
  listed = await root.plugins.list();
});

afterAll(() => daemon.dispose());

test.for(hostileArchives)("the upload of a hostile plugin is rejected (archive: $what, code: $code)", async ({ filename, bytes, code }) => {
  await expect(root.plugins.upload({ file: uploadOf(filename, bytes) })).rejects.toMatchObject({ code });
  expect(await settledDigest(path.join(daemon.directory, "plugins"))).toBe(before);
  expect(await root.plugins.list()).toEqual(listed);
});

test("a valid plugin can be installed after the daemon rejected hostile plugins", async () => {
  expect((await fetch(`${daemon.url}/api/health/ready`)).status).toBe(200);
  const archive = await packFiles({ "manifest.yaml": manifestOf("sound", "1.0.0"), "plugin.js": "export default {};\n" });
  await root.plugins.upload({ file: uploadOf("sound.tgz", archive) });
  expect((await root.plugins.list()).map(({ name }) => name)).toEqual(expect.arrayContaining(["sound", "victim"]));
});
