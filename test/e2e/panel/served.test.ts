import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../support/connect.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => daemon.dispose());

async function page(pathBelow: string): Promise<Response> {
  return await fetch(`${daemon.url}/cpanel/${pathBelow}`, { headers: { accept: "text/html" } });
}

test("serves pages without a key, with a content security policy and no-cache", async () => {
  for (const pathBelow of ["", "overview", "apps/@team/shop", "no/such/page"]) {
    const answer = await page(pathBelow);
    expect(answer.status).toBe(200);
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("font-src 'self';");
    expect(policy).not.toContain("unsafe");
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "cache-control": "no-cache",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
    });
    expect(answer.headers.get("set-cookie")).toBeNull();
  }
});

test.each([
  ["", "./"],
  ["overview", "./"],
  ["apps/shop", "../"],
  ["apps/@team/shop", "../../"],
])("serves the panel path %j with relative links, which also work behind a proxy", async (pathBelow, base) => {
  expect(await (await page(pathBelow)).text()).toContain(`<base href="${base}">`);
});

test("serves hashed files with a max-age of one year, and pages without inline code", async () => {
  const html = await (await page("")).text();
  expect(html).not.toMatch(/<style|<script(?![^>]* src=)|\son\w+=|\sstyle=/);
  const names = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name]) => name as string);
  expect(names.length).toBeGreaterThan(1);
  for (const name of names) {
    const answer = await fetch(`${daemon.url}/cpanel/${name}`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  }
  expect((await fetch(`${daemon.url}/cpanel/assets/gone-12345678.js`)).status).toBe(404);
  expect((await fetch(`${daemon.url}/cpanel/manifest.yaml`)).status).toBe(404);
});

test("lists the panel as a built-in worker that cannot be deleted", async () => {
  const client = connect(daemon.url, daemon.rootKey);
  expect(await client.workers.list()).toMatchObject([{ name: "cpanel", source: "built-in", removable: false }]);
  const params = { scope: "_", name: "cpanel" };
  await expect(client.workers.remove({ params })).rejects.toMatchObject({ code: "BUILT_IN_WORKER_REMOVE_FORBIDDEN" });
  expect((await page("")).status).toBe(200);
});

test("responds with 404 to panel paths with RUNTIME_CPANEL=off", async () => {
  const without = await startDaemon({ env: { RUNTIME_CPANEL: "off" } });
  try {
    expect((await fetch(`${without.url}/cpanel/`)).status).toBe(404);
    expect(await connect(without.url, without.rootKey).workers.list()).toEqual([]);
    expect((await fetch(`${without.url}/api/health`)).status).toBe(200);
  } finally {
    await without.dispose();
  }
});
