import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { packageVersion } from "../../../src/server/package-root.js";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => daemon.dispose());

describe("the start page at /", () => {
  test("links to the panel and the API and shows no version", async () => {
    const response = await fetch(`${daemon.url}/?from=bookmark`, { headers: browser });
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    const page = await response.text();
    for (const link of ["cpanel/", "api/docs"]) {
      expect(page).toContain(`href="${link}"`);
      expect((await fetch(`${daemon.url}/${link}`)).status, link).toBe(200);
    }
    expect(page).not.toContain(packageVersion);
    const head = await fetch(`${daemon.url}/`, { headers: browser, method: "HEAD" });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(Buffer.byteLength(page))]);
  });

  test.each([
    ["an API client", { headers: { accept: "application/json" } }],
    ["a form submission", { method: "POST", headers: browser }],
  ])("is sent to a browser, but the client %s receives NOT_FOUND", async (_, init) => {
    const response = await fetch(`${daemon.url}/`, init);
    expect([response.status, await response.json()]).toEqual([404, { error: expect.objectContaining({ code: "NOT_FOUND" }) as object }]);
  });

  test("is replaced by the response of a plugin that handles the request", async () => {
    const plugin = {
      "manifest.yaml": manifestOf("front", "1.0.0", "base: /front\n"),
      "plugin.js": `export default { onRequest: (request) => new URL(request.url).pathname === "/" ? new Response("of the plugin") : undefined };`,
    };
    await connect(daemon.url, daemon.rootKey).plugins.upload({ file: uploadOf("front.tgz", await packFiles(plugin)) });
    expect(await (await fetch(`${daemon.url}/`, { headers: browser })).text()).toBe("of the plugin");
  });
});

test.each([{ RUNTIME_ADMIN_PORT: "0" }, { RUNTIME_PANEL_HOST: "panel.example.org", RUNTIME_PUBLIC_URL: "https://apps.example.org" }])(
  "the start page has no links to the panel when the daemon has the settings %j",
  async (env) => {
    const separated = await startDaemon({ env });
    try {
      const response = await fetch(`${separated.url}/`, { headers: browser });
      const page = await response.text();
      expect(response.status).toBe(200);
      expect(page).toContain("This server runs workers");
      expect(page).not.toContain("href");
    } finally {
      await separated.dispose();
    }
  },
);
