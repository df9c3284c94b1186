import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Client } from "../../src/shared/client.js";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

describe("the menu entry of a plugin", () => {
  let daemon: TestDaemon;
  let client: Client;

  beforeAll(async () => {
    daemon = await startDaemon();
    client = connect(daemon.url, daemon.rootKey);
  });
  afterAll(() => daemon.dispose());

  const upload = async (path: string): Promise<void> => {
    const menus = `menus:\n  - title: Menu\n    path: ${JSON.stringify(path)}\n`;
    const archive = await packFiles({ "manifest.yaml": manifestOf("menu", "1.0.0", menus), "plugin.js": "export default {};" });
    await client.plugins.upload({ file: uploadOf("package.tgz", archive) });
  };
  const pathsShown = async (): Promise<string[]> => (await client.plugins.loaded()).flatMap(({ menus }) => menus.map(({ path }) => path));

  it.each(["/cpanel/../api", "/cpanel/%2e%2E/api", "/cpanel/.%2e", "/./api", "/cpanel/..", "/cpanel\\..\\api", "/cpanel/%2e/x"])(
    "is omitted when its path %j resolves to another path",
    async (path) => {
      await upload(path).catch((error: { code?: string }) => expect(error.code).toBe("INVALID_PACKAGE_METADATA"));
      expect(await pathsShown()).toEqual([]);
    },
  );

  it("is listed when its path contains dots in names or in the query", async () => {
    const path = "/menu/v1..2/.well/a...b?next=/../x#/../y";
    await upload(path);
    expect(await pathsShown()).toEqual([path]);
  });
});
