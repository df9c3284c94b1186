import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { createSender, expectRefusal, type Call } from "../../support/send.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { WebSocketClient } from "../../support/web-socket-client.js";

const app = (label: string) => `
export default {
  fetch(request) {
    const url = new URL(request.url);
    if (request.headers.get("upgrade") === "websocket") {
      const pair = new WebSocketPair();
      pair[1].accept();
      pair[1].send("${label}");
      return new Response(null, { status: 101, webSocket: pair[0] });
    }
    return Response.json(
      { app: "${label}", path: url.pathname + url.search, host: url.host, base: request.headers.get("x-base"), cookie: request.headers.get("cookie") },
      { headers: { "strict-transport-security": "max-age=60", "clear-site-data": '"cache"', "x-accel-redirect": "/etc", "set-cookie": "own=1; Path=/" } },
    );
  },
};`;

const env = {
  RUNTIME_APP_DOMAIN: "apps.test",
  RUNTIME_PANEL_HOST: "panel.test",
  RUNTIME_PUBLIC_URL: "https://main.test",
  RUNTIME_HOST_SUFFIXES: "@team=*.team.test",
};

async function upload(name: string, index: string, { version = "1.0.0", manifest = "" } = {}): Promise<void> {
  const file = index.startsWith("<") ? "index.html" : "index.js";
  const archive = await packFiles({ [file]: index, "manifest.yaml": manifestOf(name, version, manifest) });
  await client.workers.upload({ file: uploadOf("package.tgz", archive) });
}

let daemon: TestDaemon;
let client: ReturnType<typeof connect>;

beforeAll(async () => {
  daemon = await startDaemon({ env });
  client = connect(daemon.url, daemon.rootKey);
  await upload("shop", app("shop 1"));
  await upload("@team/shop", app("team shop"));
  await upload("my.site", "<title>site</title>", { manifest: "headers: { strict-transport-security: max-age=60, x-own: '1' }\n" });
  await client.hosts.add({ params: { host: "shop.test" }, body: { worker: "shop" } });
  await client.hosts.add({ params: { host: "münchen.test" }, body: { worker: "@team/shop" } });
  await client.hosts.add({ params: { host: "site.test" }, body: { worker: "my.site" } });
});
afterAll(() => daemon.dispose());

async function ask(host: string | undefined, call: Call) {
  const send = createSender(daemon.url);
  try {
    return await send({ ...call, headers: { ...(host !== undefined && { host }), ...call.headers } });
  } finally {
    await send.close();
  }
}

const appAt = async (host: string, path = "/") => (JSON.parse((await ask(host, { path })).text) as { app: string }).app;

describe("a worker at its own host name", () => {
  test.each([
    ["shop.test", "shop 1"],
    ["SHOP.Test:8443", "shop 1"],
    ["shop.test.", "shop 1"],
    ["shop.test.:80", "shop 1"],
    ["xn--mnchen-3ya.test", "team shop"],
    ["shop.apps.test", "shop 1"],
    ["shop--team.apps.test:1", "team shop"],
    ["v1-0-0---shop.apps.test", "shop 1"],
    ["V1-0-0---SHOP--TEAM.apps.test", "team shop"],
  ])("responds to requests with the Host header %s", async (host, label) => {
    expect(await appAt(host)).toBe(label);
  });

  test("receives the full path and an empty base path, and can set origin-wide headers", async () => {
    const answer = await ask("shop.test", { path: "/api/keys?x=1", headers: { cookie: "own=1; runtime_api_key=secret" } });

    expect(JSON.parse(answer.text)).toEqual({ app: "shop 1", path: "/api/keys?x=1", host: "shop.test", base: "", cookie: "own=1" });
    expect(answer.headers).toMatchObject({
      "strict-transport-security": "max-age=60",
      "clear-site-data": '"cache"',
      "set-cookie": "own=1; Path=/",
    });
    expect(answer.headers).not.toHaveProperty("x-accel-redirect");
  });

  test("cannot set origin-wide headers at its path on the daemon's main host", async () => {
    const answer = await ask("main.test", { path: "/shop/x" });
    expect(JSON.parse(answer.text)).toMatchObject({ app: "shop 1", path: "/x", base: "/shop" });
    expect(answer.headers).not.toHaveProperty("strict-transport-security");
    expect(answer.headers).not.toHaveProperty("clear-site-data");
  });

  test("serves a static site at / with the site's headers and without a redirect", async () => {
    const answer = await ask("site.test", { path: "/" });
    expect([answer.status, answer.text]).toEqual([200, "<title>site</title>"]);
    expect(answer.headers).toMatchObject({ "strict-transport-security": "max-age=60", "x-own": "1" });
    const below = await ask("main.test", { path: "/my.site/" });
    expect(below.headers).not.toHaveProperty("strict-transport-security");
    expect(below.headers).toMatchObject({ "x-own": "1" });
  });

  test.each(["/api/keys", "/api/health", "/.well-known/runtime", "/cpanel/", "/cpanel@1/x", "/%63panel/", "/team/"])(
    "receives requests for the path %s instead of the API or the panel",
    async (path) => {
      expect(await appAt("shop.test", path)).toBe("shop 1");
    },
  );

  test("opens a WebSocket at / and at a path below /api", async () => {
    for (const path of ["/", "/api/socket"]) {
      const socket = await WebSocketClient.open(`${daemon.url}${path}`, [], { headers: { host: "shop.test" } });
      expect(await socket.next()).toBe("shop 1");
    }
  });
});

describe("a host name that belongs to no worker", () => {
  test.each([
    "nobody.apps.test",
    "a.b.apps.test",
    "v1-0-9---shop.apps.test",
    "xn--a.apps.test",
    "my-site.apps.test",
    "team--shop.apps.test",
  ])("causes a 404 at every path when the host is %s", async (host) => {
    for (const path of ["/", "/api/health", "/cpanel/", "/shop/"]) expectRefusal(await ask(host, { path }), "NOT_FOUND", path);
    expect((await WebSocketClient.refusal(`${daemon.url}/`, { headers: { host } })).status).toBe(404);
  });

  test.each(["panel.test", "PANEL.test."])("causes a 404 at the path of a worker when the host is the panel host %s", async (host) => {
    expectRefusal(await ask(host, { path: "/shop/" }), "NOT_FOUND");
  });

  test.each(["main.test", "apps.test", "127.0.0.1", "[::1]:80", "unknown.test", "shop.test.evil.test", "evilapps.test"])(
    "serves the API and the workers at their paths when the host is %s",
    async (host) => {
      expect((await ask(host, { path: "/api/health" })).status).toBe(200);
      expect(await appAt(host, "/shop/")).toBe("shop 1");
    },
  );
});

describe("the hosts of a worker", () => {
  test("are in effect before the daemon responds to a call that changes a host", async () => {
    const host = "new.test";
    await client.hosts.add({ params: { host }, body: { worker: "shop" } });
    expect(await appAt(host)).toBe("shop 1");
    await upload("shop", app("shop 2"), { version: "2.0.0" });
    expect(await appAt(host)).toBe("shop 2");
    await client.hosts.add({ params: { host }, body: { worker: "shop", version: "^1" } });
    expect(await appAt(host)).toBe("shop 1");
    await client.hosts.remove({ params: { host } });
    expect((await ask(host, { path: "/api/health" })).status).toBe(200);
    await client.workers.removeVersion({ params: { scope: "_", name: "shop", version: "2.0.0" } });
  });

  test("cannot be hosts of other workers or of the daemon, or below RUNTIME_APP_DOMAIN", async () => {
    const before = await client.hosts.list();
    const add = (host: string) => client.hosts.add({ params: { host }, body: { worker: "@team/shop" } });
    await expect(add("shop.test")).rejects.toMatchObject({ code: "HOST_TAKEN", status: 409 });
    for (const host of ["panel.test", "main.test", "apps.test", "shop.apps.test", "x.y.apps.test"])
      await expect(add(host), host).rejects.toMatchObject({ code: "HOST_NOT_ALLOWED", status: 403 });
    expect(await client.hosts.list()).toEqual(before);
  });

  test("are limited to RUNTIME_HOST_SUFFIXES for changes by a key of one namespace", async () => {
    const { data } = await client.keys.create({ body: { name: "team", role: "editor", namespaces: ["@team"] } });
    const team = connect(daemon.url, data.key);
    const add = (host: string, worker: string) => team.hosts.add({ params: { host }, body: { worker } });
    await expect(add("a.team.test", "shop")).rejects.toMatchObject({ code: "NAMESPACE_DENIED" });
    for (const host of ["free.test", "team.test", "evilteam.test"])
      await expect(add(host, "@team/shop"), host).rejects.toMatchObject({ code: "HOST_NOT_ALLOWED" });
    await add("a.team.test", "@team/shop");
    expect(await appAt("a.team.test")).toBe("team shop");

    expect((await team.hosts.list()).hosts.map(({ host }) => host)).toEqual(["a.team.test", "xn--mnchen-3ya.test"]);
    await expect(team.hosts.remove({ params: { host: "shop.test" } })).rejects.toMatchObject({ code: "HOST_NOT_FOUND" });
    await team.hosts.remove({ params: { host: "a.team.test" } });
  });

  test("are listed as requested if only the manifest contains the host name", async () => {
    await upload("wishes", app("wishes"), { manifest: "hosts: [Wish.test]\n" });
    expect((await client.hosts.list()).requested).toEqual([{ host: "wish.test", worker: "wishes" }]);
    expect((await ask("wish.test", { path: "/wishes/" })).status).toBe(200);
    await client.hosts.add({ params: { host: "wish.test" }, body: { worker: "wishes" } });
    expect((await client.hosts.list()).requested).toEqual([]);
    expect(await appAt("wish.test")).toBe("wishes");
  });

  test("survive a restart of the daemon", async () => {
    await daemon.stop();
    daemon = await startDaemon({ env, directory: daemon.directory });
    client = connect(daemon.url, daemon.rootKey);
    expect(await appAt("shop.test")).toBe("shop 1");
  });
});

const question = (domain: string, headers: Record<string, string> = {}) =>
  ask("127.0.0.1", { path: `/api/hosts/ask?domain=${encodeURIComponent(domain)}`, headers });

describe("the check of a certificate at /api/hosts/ask", () => {
  test.each(["shop.test", "SHOP.test", "xn--mnchen-3ya.test", "shop.apps.test", "panel.test", "main.test"])(
    "succeeds for the host %s",
    async (domain) => {
      expect((await question(domain)).status).toBe(200);
    },
  );

  test.each(["unknown.test", "nobody.apps.test", "v9-0-0---shop.apps.test", "", "127.0.0.1", "*.test"])(
    "fails with 404 for the host %j",
    async (domain) => {
      expectRefusal(await question(domain), "HOST_NOT_FOUND");
    },
  );

  test.each(["x-forwarded-for", "x-forwarded-anything", "forwarded", "via"])(
    "fails with 404 when the request has the header %s",
    async (name) => {
      expectRefusal(await question("shop.test", { [name]: "1.1.1.1" }), "NOT_FOUND");
    },
  );
});
