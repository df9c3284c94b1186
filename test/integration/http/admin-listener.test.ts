import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { createSender } from "../../support/send.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

let daemon: TestDaemon;
let admin: string;

beforeAll(async () => {
  daemon = await startDaemon({
    env: { RUNTIME_ADMIN_PORT: "0", RUNTIME_API_PREFIX: "/_", RUNTIME_PUBLIC_URL: "https://apps.example.org/" },
  });
  admin = daemon.adminUrl;
  const worker = { "manifest.yaml": manifestOf("app", "1.0.0"), "index.js": `export default { fetch: () => new Response("app") };` };
  await connect(admin, daemon.rootKey, { apiBase: "/_/api" }).workers.upload({ file: uploadOf("app.tgz", await packFiles(worker)) });
});

afterAll(() => daemon.dispose());

async function statusOf(origin: string, path: string): Promise<number> {
  const send = createSender(origin);
  try {
    return (await send({ path })).status;
  } finally {
    await send.close();
  }
}

test.each(["/_/api/health", "/_/api/workers", "/_/api/docs", "/.well-known/runtime", "/cpanel/"])(
  "the daemon serves the path %s at the admin listener, not at the main listener",
  async (path) => {
    const headers = { "x-api-key": daemon.rootKey };
    expect((await fetch(admin + path, { headers })).status).toBe(200);
    const refused = await fetch(daemon.url + path, { headers });
    expect(refused.status).toBe(404);
    expect(await refused.json()).toMatchObject({ error: { code: "NOT_FOUND" } });
    expect(refused.headers.get("content-security-policy")).toBeNull();
  },
);

test.each([
  "/cpanel",
  "/cpanel@1.0.0/",
  "/%63panel/",
  "//cpanel/",
  "/cpanel%2f",
  "/app/../cpanel/",
  "/app/%2e%2e/cpanel/",
  "/app/..%2fcpanel/",
  "/\\cpanel/",
])("the main listener responds with 404 to the panel path in the spelling %s", async (path) => {
  expect(await statusOf(daemon.url, path)).toBe(404);
});

test("the daemon serves workers at the main listener, not at the admin listener", async () => {
  expect(await (await fetch(`${daemon.url}/app/cpanels/api`)).text()).toBe("app");
  for (const path of ["/app/", "/", "/cpanels/", "/cpanel/../app/"]) expect(await statusOf(admin, path), path).toBe(404);
});

test("the discovery document of the admin listener contains RUNTIME_PUBLIC_URL", async () => {
  expect(await (await fetch(`${admin}/.well-known/runtime`)).json()).toMatchObject({ api: "/_/api", apps: "https://apps.example.org" });
});

test("the admin listener accepts a sign-in only from its own origin", async () => {
  const call = (origin: string) =>
    fetch(`${admin}/_/api/admin/session`, {
      method: "POST",
      headers: { origin, "content-type": "application/json" },
      body: JSON.stringify({ key: daemon.rootKey }),
    });
  expect((await call(daemon.url)).status).toBe(403);
  const answer = await call(admin);
  expect(answer.status).toBe(200);
  expect(((await answer.json()) as { endsAt: number }).endsAt).toBeGreaterThan(Date.now() / 1000 + 86_000);
});

test("runtimed exits with 1 and names RUNTIME_ADMIN_PORT when the port is in use", async () => {
  const taken = startDaemon({ env: { RUNTIME_ADMIN_PORT: new URL(daemon.url).port } });
  await expect(taken).rejects.toThrow(/ended with 1[^]*set RUNTIME_ADMIN_PORT to another port/);
});
