import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copyPackages } from "../../support/copy-packages.js";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { runRuntimectl } from "../../support/run-runtimectl.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";

let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterAll(() => daemon.dispose());

/** Creates a folder with unchanged packages from npm and uploads it with runtimectl. */
async function upload(
  name: string,
  packages: readonly string[],
  { manifest = "", code }: { manifest?: string; code: string },
): Promise<void> {
  const folder = path.join(daemon.directory, "sources", name);
  const dependencies = Object.fromEntries(packages.map((dependency) => [dependency, "*"]));
  await writeTree(folder, {
    "manifest.yaml": `name: ${name}\n${manifest}`,
    "package.json": JSON.stringify({ name, version: "1.0.0", type: "module", dependencies }),
    "plugin.js": code,
  });
  await copyPackages(packages, folder);
  const run = await runRuntimectl(daemon, ["plugins", "upload", folder]);
  expect(run.status, run.stderr).toBe(0);
}

async function get(target: string, headers: Record<string, string> = {}): Promise<{ status: number; headers: Headers; text: string }> {
  const response = await fetch(daemon.url + target, { headers, redirect: "manual" });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

test("a Hono app with middleware works unchanged as a plugin", async () => {
  await upload("hono-plugin", ["hono"], {
    manifest: "base: /hono\n",
    code: `
      import { Hono } from "hono";
      import { basicAuth } from "hono/basic-auth";
      import { cors } from "hono/cors";
      import { etag } from "hono/etag";
      import { secureHeaders } from "hono/secure-headers";
      import { streamText } from "hono/streaming";
      const app = new Hono();
      app.use(cors({ origin: "https://example.com" }), secureHeaders());
      app.use("/tagged", etag());
      app.use("/private/*", basicAuth({ username: "ada", password: "lovelace" }));
      app.get("/users/:id", (c) => c.json({ id: c.req.param("id"), query: c.req.query("q"), base: c.req.header("x-base") }));
      app.post("/echo", async (c) => c.json({ got: await c.req.json() }, 201));
      app.get("/tagged", (c) => c.text("tagged"));
      app.get("/private/page", (c) => c.text("welcome"));
      app.get("/stream", (c) => streamText(c, async (stream) => { for (const word of ["one ", "two ", "three"]) await stream.write(word); }));
      app.onError((error, c) => (error.getResponse ? error.getResponse() : c.text("handled: " + error.message, 500)));
      app.get("/fails", () => { throw new Error("on purpose"); });
      export default { routes: app };`,
  });
  const user = await get("/hono/users/7?q=a%20b", { origin: "https://example.com" });
  expect(JSON.parse(user.text)).toEqual({ id: "7", query: "a b", base: "/hono" });
  expect(user.headers.get("access-control-allow-origin")).toBe("https://example.com");
  expect(user.headers.get("x-content-type-options")).toBe("nosniff");
  const posted = await fetch(`${daemon.url}/hono/echo`, { method: "POST", body: JSON.stringify({ a: [1, 2] }) });
  expect([posted.status, await posted.json()]).toEqual([201, { got: { a: [1, 2] } }]);
  const tagged = await get("/hono/tagged");
  const again = await get("/hono/tagged", { "if-none-match": tagged.headers.get("etag") ?? "" });
  expect([tagged.text, again.status]).toEqual(["tagged", 304]);
  expect((await get("/hono/private/page")).status).toBe(401);
  expect((await get("/hono/private/page", { authorization: `Basic ${btoa("ada:lovelace")}` })).text).toBe("welcome");
  expect((await get("/hono/stream")).text).toBe("one two three");
  expect(await get("/hono/fails")).toMatchObject({ status: 500, text: "handled: on purpose" });
  expect((await get("/hono/nothing")).status).toBe(404);
});

test("a Koa app works as a plugin with the adapter fromNodeHandler", async () => {
  await upload("koa-plugin", ["koa"], {
    manifest: "base: /koa\n",
    code: `
      import Koa from "koa";
      import { fromNodeHandler } from "runtimectl/plugin";
      const app = new Koa();
      app.silent = true;
      app.use(async (context, next) => { await next(); context.set("x-koa", "yes"); });
      app.use(async (context) => {
        if (context.path === "/fails") context.throw(418, "teapot");
        let body = "";
        for await (const chunk of context.req) body += chunk;
        context.cookies.set("seen", "1");
        context.body = { method: context.method, path: context.path, query: context.query, body };
      });
      export default { routes: fromNodeHandler(app.callback()) };`,
  });
  const got = await get("/koa/some/path?a=1");
  expect(JSON.parse(got.text)).toEqual({ method: "GET", path: "/some/path", query: { a: "1" }, body: "" });
  expect(got.headers.get("x-koa")).toBe("yes");
  expect(got.headers.getSetCookie()[0]).toContain("seen=1");
  const posted = await fetch(`${daemon.url}/koa/`, { method: "POST", body: "a body" });
  expect(await posted.json()).toMatchObject({ method: "POST", path: "/", body: "a body" });
  expect(await get("/koa/fails")).toMatchObject({ status: 418, text: "teapot" });
});

test("a plugin with Auth.js requires a sign-in before a request reaches a worker", async () => {
  const client = connect(daemon.url, daemon.rootKey);
  const page = { "manifest.yaml": manifestOf("secret", "1.0.0"), "index.html": "the secret page" };
  await client.workers.upload({ file: uploadOf("secret.tgz", await packFiles(page)) });
  await upload("auth-plugin", ["@auth/core"], {
    manifest: "base: /auth\n",
    code: `
      import { Auth } from "@auth/core";
      import { getToken } from "@auth/core/jwt";
      import Credentials from "@auth/core/providers/credentials";
      const secret = "a secret for this test only";
      const config = {
        basePath: "/auth", secret, trustHost: true,
        providers: [Credentials({
          credentials: { name: {}, password: {} },
          authorize: ({ name, password }) => (password === "right" ? { id: "1", name } : null),
        })],
        logger: { error() {}, warn() {}, debug() {} },
      };
      export default {
        async onRequest(request, app) {
          if (app?.name !== "secret") return;
          const token = await getToken({ req: request, secret });
          if (!token) return new Response("sign in first", { status: 401 });
        },
        server: { routes: { "/auth/*": { GET: (request) => Auth(request, config), POST: (request) => Auth(request, config) } } },
      };`,
  });
  expect(await get("/secret/")).toMatchObject({ status: 401, text: "sign in first" });
  const csrf = await get("/auth/csrf");
  const { csrfToken } = JSON.parse(csrf.text) as { csrfToken: string };
  const signIn = async (password: string) =>
    await fetch(`${daemon.url}/auth/callback/credentials`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie: cookiesOf(csrf.headers), "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ csrfToken, name: "Ada", password }).toString(),
    });
  const wrong = await signIn("wrong");
  expect(await get("/secret/", { cookie: cookiesOf(wrong.headers) })).toMatchObject({ status: 401 });
  const right = await signIn("right");
  const session = cookiesOf(right.headers);
  expect(session).toContain("session-token");
  expect(await get("/secret/", { cookie: session })).toMatchObject({ status: 200, text: "the secret page" });
  expect(JSON.parse((await get("/auth/session", { cookie: session })).text)).toMatchObject({ user: { name: "Ada" } });
});

function cookiesOf(headers: Headers): string {
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
}
