import { readdir } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isPackageName } from "../../src/shared/package-name.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

const reserved = [
  "con",
  "aux",
  "nul",
  "prn",
  "com1",
  "lpt9",
  "con.backup",
  "node_modules",
  "favicon.ico",
  "@team/aux",
  "@team/node_modules",
];

describe("an upload with a package name that npm or Windows reserves", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => daemon.dispose());

  it.each(["con", "node_modules", "@team/aux"])(
    "is rejected with the name %s as worker and as plugin, and leaves no file",
    async (name) => {
      const client = connect(daemon.url, daemon.rootKey);
      const invalid = { code: "INVALID_PACKAGE_NAME", status: 400 };
      await expect(uploadWorker(client, name, { "index.html": "x" })).rejects.toMatchObject(invalid);
      const plugin = await packFiles({ "manifest.yaml": manifestOf(name, "1.0.0"), "plugin.js": "export default {};" });
      await expect(client.plugins.upload({ file: uploadOf("package.tgz", plugin) })).rejects.toMatchObject(invalid);
      for (const directory of ["workers", "plugins"]) {
        const entries = await readdir(path.join(daemon.directory, directory));
        expect(entries.filter((entry) => !entry.startsWith("."))).toEqual([]);
      }
    },
  );

  it("is rejected for every reserved name, but not for longer names such as `console`", () => {
    expect(reserved.filter((name) => isPackageName(name))).toEqual([]);
    const free = ["console", "auxiliary", "@con/app", "com10"];
    expect(free.filter((name) => isPackageName(name))).toEqual(free);
  });
});
