import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { createSender, expectRefusal, type Call } from "../../support/send.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { uploadWorker } from "../../support/upload-worker.js";
import { WebSocketClient } from "../../support/web-socket-client.js";

const panel = "panel.example.org";
const apps = "apps.example.org";

const plugin = {
  "manifest.yaml": manifestOf("teller", "1.0.0", "base: /teller\n"),
  "plugin.js":
    "export default { routes: { fetch: () => new Response('routes') }, server: { routes: { '/told': () => new Response('told') } } };",
};

async function startWithPanelHost(env: Record<string, string> = {}): Promise<TestDaemon> {
  const daemon = await startDaemon({ env: { RUNTIME_PANEL_HOST: panel, RUNTIME_PUBLIC_URL: `https://${apps}`, ...env } });
  const client = connect(daemon.adminUrl, daemon.rootKey);
  await uploadWorker(client, "app", {
    "index.js": "export default { fetch: (request) => new Response(request.headers.get('cookie') ?? 'none') };",
  });
  await client.plugins.upload({ file: uploadOf("teller.tgz", await packFiles(plugin)) });
  return daemon;
}

/** Sends a call to an origin of the daemon with this Host header. */
async function ask(origin: string, host: string, call: Call) {
  const send = createSender(origin);
  try {
    return await send({ ...call, headers: { host, ...call.headers } });
  } finally {
    await send.close();
  }
}

const signInAt = (host: string, { url, rootKey }: TestDaemon) =>
  ask(url, host, {
    method: "POST",
    path: "/api/admin/session",
    headers: { origin: `http://${host}`, "content-type": "application/json" },
    body: JSON.stringify({ key: rootKey }),
  });
const cookieOf = ({ rootKey }: TestDaemon, name = "runtime_api_key") => ({ cookie: `${name}=${encodeURIComponent(rootKey)}` });

describe("a daemon with RUNTIME_PANEL_HOST", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startWithPanelHost();
  });
  afterAll(() => daemon.dispose());

  test.each(["/cpanel/", "/cpanel/keys", "/api/health", "/api/docs", "/.well-known/runtime"])(
    "serves the path %s at the panel host",
    async (path) => {
      expect((await ask(daemon.url, panel, { path, headers: { accept: "text/html" } })).status).toBe(200);
    },
  );

  test.each(["/app/", "/teller/", "/told", "/nothing", "/%63panel/", "/app/../cpanel/x", "//cpanel/"])(
    "responds with 404 to the path %s at the panel host, on any port",
    async (path) => {
      for (const host of [panel, `${panel}:8443`]) expectRefusal(await ask(daemon.url, host, { path }), "NOT_FOUND", host);
    },
  );

  test("rejects a WebSocket of a worker at the panel host with 404", async () => {
    expect((await WebSocketClient.refusal(`${daemon.url}/app/`, { headers: { host: panel } })).status).toBe(404);
  });

  test.each([
    ["/cpanel/", {}, `http://${panel}/cpanel/`],
    ["/cpanel", {}, `http://${panel}/cpanel`],
    ["/cpanel/keys?x=1", { "x-forwarded-proto": "https" }, `https://${panel}/cpanel/keys?x=1`],
    ["/cpanel/", { "x-forwarded-proto": "javascript" }, `http://${panel}/cpanel/`],
  ])("redirects the path %s from another host to the panel host", async (path, headers, location) => {
    const answer = await ask(daemon.url, apps, { path, headers });
    expect([answer.status, answer.headers["location"]]).toEqual([308, location]);
    expect(answer.headers["cache-control"]).toBe("no-store");
  });

  test("redirects the path / at the panel host to /cpanel/", async () => {
    const answer = await ask(daemon.url, `${panel}:8000`, { path: "/" });
    expect([answer.status, answer.headers["location"]]).toEqual([308, `http://${panel}:8000/cpanel/`]);
  });

  test("serves workers and plugins at another host", async () => {
    expect((await ask(daemon.url, apps, { path: "/teller/" })).text).toBe("routes");
    expect((await ask(daemon.url, apps, { path: "/told" })).text).toBe("told");
    expect((await ask(daemon.url, apps, { path: "/app/" })).text).toBe("none");
  });

  test("accepts a session cookie only at the panel host, and a key header at every host", async () => {
    const path = "/api/admin/session";
    expect((await ask(daemon.url, panel, { path, headers: cookieOf(daemon) })).status).toBe(200);
    for (const name of ["runtime_api_key", "__Host-runtime_api_key"])
      expectRefusal(await ask(daemon.url, apps, { path, headers: cookieOf(daemon, name) }), "AUTH_REQUIRED");
    expect((await ask(daemon.url, apps, { path, headers: { "x-api-key": daemon.rootKey } })).status).toBe(200);
    expect((await ask(daemon.url, apps, { path, headers: { authorization: `Bearer ${daemon.rootKey}` } })).status).toBe(200);
  });

  test("rejects a sign-in at another host and sets no cookie", async () => {
    const refused = await signInAt(apps, daemon);
    expectRefusal(refused, "PANEL_HOST_REQUIRED");
    expect(refused.headers["set-cookie"]).toBeUndefined();
    expect(refused.text).toContain(`http://${panel}/cpanel/`);
    expect((await signInAt(panel, daemon)).status).toBe(200);
  });

  test("removes both session cookies from requests to workers", async () => {
    const headers = { cookie: `a=b; runtime_api_key=x; __Host-runtime_api_key=y; c=d` };
    expect((await ask(daemon.url, apps, { path: "/app/", headers })).text).toBe("a=b; c=d");
  });
});

describe("a daemon with RUNTIME_PANEL_HOST and RUNTIME_ADMIN_PORT", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startWithPanelHost({ RUNTIME_ADMIN_PORT: "0" });
  });
  afterAll(() => daemon.dispose());

  test("serves the panel only at the panel host of the admin listener", async () => {
    expect((await ask(daemon.adminUrl, panel, { path: "/cpanel/" })).status).toBe(200);
    const elsewhere = await ask(daemon.adminUrl, apps, { path: "/cpanel/" });
    expect([elsewhere.status, elsewhere.headers["location"]]).toEqual([308, `http://${panel}/cpanel/`]);
    for (const host of [panel, apps]) expectRefusal(await ask(daemon.url, host, { path: "/cpanel/" }), "NOT_FOUND", host);
  });

  test("serves no worker at the panel host on either listener", async () => {
    for (const origin of [daemon.url, daemon.adminUrl]) expectRefusal(await ask(origin, panel, { path: "/app/" }), "NOT_FOUND", origin);
    expect((await ask(daemon.url, apps, { path: "/app/" })).status).toBe(200);
  });

  test("accepts a session cookie only at the panel host", async () => {
    const path = "/api/admin/session";
    expect((await ask(daemon.adminUrl, panel, { path, headers: cookieOf(daemon) })).status).toBe(200);
    expectRefusal(await ask(daemon.adminUrl, apps, { path, headers: cookieOf(daemon) }), "AUTH_REQUIRED");
  });
});

describe("a daemon with RUNTIME_ALLOWED_HOSTS", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startWithPanelHost({ RUNTIME_ALLOWED_HOSTS: "127.0.0.1,*.inner.example" });
  });
  afterAll(() => daemon.dispose());

  test.each(["127.0.0.1:1234", "a.inner.example", panel, apps])("serves requests with the allowed host %s", async (host) => {
    expect((await ask(daemon.url, host, { path: "/api/health" })).status).toBe(200);
  });

  test.each(["/api/health", "/app/", "/cpanel/", "/.well-known/runtime"])(
    "responds with 421 at the path %s when the host is not allowed",
    async (path) => {
      expectRefusal(await ask(daemon.url, "rebound.example:8000", { path, headers: { "x-api-key": daemon.rootKey } }), "HOST_NOT_SERVED");
    },
  );

  test("responds with 421 to a WebSocket handshake when the host is not allowed", async () => {
    expect((await WebSocketClient.refusal(`${daemon.url}/app/`, { headers: { host: "rebound.example" } })).status).toBe(421);
  });
});
