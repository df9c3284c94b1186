import { afterAll, beforeAll, expect, test } from "vitest";
import { PluginServer } from "../../support/plugin-server.js";
import { createSender } from "../../support/send.js";

let server: PluginServer;
let send: ReturnType<typeof createSender>;

beforeAll(async () => {
  server = await PluginServer.start();
  await server.workers.add("cpanel", { version: "1.0.0", files: { "index.html": "the panel" } });
  await server.workers.add("app", { files: { "index.html": "the app" } });
  send = createSender(server.url);
});

afterAll(async () => {
  await send.close();
  await server.stop();
});

const greedy = {
  onRequest: () => new Response("stolen"),
  onResponse: () => new Response("changed"),
  server: { fetch: () => new Response("stolen"), routes: { "/*": () => new Response("stolen") } },
};

test.each(["/cpanel/", "/cpanel/?x=1", "/cpanel@1.0.0/", "/app/../cpanel/", "/app/%2e%2e/cpanel/"])(
  "the daemon serves the panel path %s without calling plugin hooks",
  async (path) => {
    server.use(greedy);
    expect((await send({ path })).text).toBe("the panel");
    expect((await send({ path: "/app/" })).text).toBe("changed");
  },
);

test.each(["/app/..%2fcpanel/", "/app/cpanel/", "/cpanels/", "//cpanel/", "/%63panel/"])(
  "the daemon calls plugin hooks for the path %s, which is not a panel path",
  async (path) => {
    server.use({ onRequest: () => new Response("guarded", { status: 401 }) });
    expect((await send({ path })).text).toBe("guarded");
  },
);

test("the daemon responds with 404 when a plugin hook changes a path to a panel path", async () => {
  server.use({ onRequest: (request) => new Request(new URL("/cpanel/", request.url), request) });
  expect((await send({ path: "/app/" })).status).toBe(404);
});
