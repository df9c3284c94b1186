import { createConfig, lintFromString } from "@redocly/openapi-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorCodesOf } from "../../../src/shared/contract/endpoint.js";
import { operations } from "../../../src/shared/contract/index.js";
import { errorTable } from "../../../src/shared/errors.js";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { createSender, type Answer } from "../../support/send.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

interface Operation {
  readonly operationId: string;
  readonly security: readonly Record<string, readonly string[]>[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, Operation>> & { readonly servers?: readonly { readonly url: string }[] }>
  >;
}

describe.each([
  ["/api", ""],
  ["/_/api", "/_"],
  ["/deep/er/api", "/deep/er"],
])("the API with the base path %s", (apiBase, prefix) => {
  let daemon: TestDaemon;
  let send: ReturnType<typeof createSender>;
  let openapi: OpenApi;

  beforeAll(async () => {
    daemon = await startDaemon({ env: { RUNTIME_API_PREFIX: prefix } });
    send = createSender(daemon.url);
    openapi = JSON.parse((await send({ path: `${apiBase}/openapi.json` })).text) as OpenApi;
  });

  afterAll(async () => {
    await send.close();
    await daemon.dispose();
  });

  test("serves a valid OpenAPI 3.1 document", async () => {
    const config = await createConfig({
      extends: ["recommended-strict"],
      rules: {
        // Names of tags need no description.
        "tag-description": "off",
        // Public reads have no 4xx response of their own.
        "operation-4xx-response": "off",
        // Records with enumerated keys list the keys in propertyNames.
        "no-required-schema-properties-undefined": "off",
      },
    });

    const problems = await lintFromString({ source: JSON.stringify(openapi), config });

    // `secrets` is no version, and the methods differ: no request matches both.
    const known = [
      "`/workers/{scope}/{name}/{version}/enable` and `/workers/{scope}/{name}/secrets/{key}`",
      // The router tries the path of secrets first, and `secrets` is no version.
      "`/workers/{scope}/{name}/secrets/{key}` and `/workers/{scope}/{name}/{version}/config`",
    ];
    const unknown = problems.filter(({ message }) => !known.some((paths) => message.includes(paths)));
    expect(unknown.map(({ ruleId, message, location }) => `${location[0]?.pointer}: ${message} (${ruleId})`)).toEqual([]);
    expect(openapi.openapi).toBe("3.1.0");
    expect(openapi.servers).toEqual([{ url: apiBase }]);
  });

  test("documents exactly the operations of the contract", () => {
    const documented = Object.entries(openapi.paths).flatMap(([path, { servers, ...methods }]) =>
      Object.entries(methods).map(
        ([method, { operationId }]) => `${operationId}: ${method.toUpperCase()} ${servers?.[0]?.url ?? ""}${path}`,
      ),
    );
    const expected = operations.map(
      ({ id, endpoint }) => `${id}: ${endpoint.method} ${endpoint.atOrigin ? "/" : ""}${endpoint.path.replace(/:(\w+)/g, "{$1}")}`,
    );

    expect(documented.toSorted()).toEqual(expected.toSorted());
  });

  test("documents the credentials and error codes of each operation", () => {
    const documented = Object.values(openapi.paths).flatMap(({ servers: _servers, ...methods }) => Object.values(methods));
    for (const { id, endpoint } of operations) {
      const { security, responses, parameters } = documented.find(({ operationId }) => operationId === id) as Operation;
      expect(security.length > 0, `${id}: needs a key`).toBe(endpoint.access !== "public");
      expect(responses, id).toHaveProperty(String(endpoint.status));
      for (const code of errorCodesOf(endpoint)) expect(responses[errorTable[code][0]]?.description, id).toContain(`\`${code}\``);
      const inPath = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => `:${name}`);
      expect(inPath, id).toEqual(endpoint.path.match(/:\w+/g) ?? []);
    }
  });

  test("publishes the paths of API, panel and docs in /.well-known/runtime", async () => {
    const { version } = openapi.info;

    expect(JSON.parse((await send({ path: "/.well-known/runtime" })).text)).toEqual({
      name: "runtimed",
      api: apiBase,
      version,
      cpanel: "/cpanel/",
      docs: `${apiBase}/docs`,
    });
  });

  test("serves a documentation page that loads files only from the daemon", async () => {
    const page = await send({ path: `${apiBase}/docs` });
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    expectOwnFilesOnly(page);
    const references = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].flatMap(([, reference = ""]) =>
      reference.startsWith("data:") ? [] : [reference],
    );
    expect(references.length).toBeGreaterThanOrEqual(3);

    const assets = new Map<string, Answer>();
    for (const reference of references) {
      const { origin, pathname } = new URL(reference, `${daemon.url}${apiBase}/docs`);
      expect(origin).toBe(new URL(daemon.url).origin);
      assets.set(reference, await send({ path: pathname }));
    }

    for (const [reference, asset] of assets) {
      expect(asset.status, reference).toBe(200);
      expect(asset.headers["content-type"], reference).toMatch(reference.endsWith(".css") ? /^text\/css/ : /^text\/javascript/);
      expect(asset.headers["x-content-type-options"], reference).toBe("nosniff");
    }
    const start = assets.get("docs/start.js")?.text ?? "";
    expect(start).not.toMatch(/https?:\/\//);
    expect(start).toContain('url: "openapi.json"');
    expect(new URL("openapi.json", `${daemon.url}${apiBase}/docs`).pathname).toBe(`${apiBase}/openapi.json`);
  });

  test("responds to calls of the typed client with data that matches the contract", async () => {
    const client = connect(daemon.url, daemon.rootKey, { apiBase });
    const archive = await packFiles({ "manifest.yaml": manifestOf("@team/app", "1.0.0"), "index.html": "hello" });
    const version = { scope: "@team", name: "app", version: "1.0.0" };

    expect(await client.health.overall()).toMatchObject({ status: "healthy" });
    expect(await client.session.show()).toMatchObject({ principal: { isRoot: true } });
    expect(await client.session.create({ body: { key: daemon.rootKey } })).toMatchObject({ authenticated: true });
    expect(await client.session.remove()).toBeUndefined();
    expect((await client.workers.upload({ file: uploadOf("app.zip.tgz", archive) })).data.worker).toMatchObject({ name: "@team/app" });
    expect((await client.workers.disable({ params: version })).data.enabled).toBe(false);
    expect((await send({ path: "/@team/app/" })).status).toBe(404);
    expect((await client.workers.enable({ params: version })).data.enabled).toBe(true);
    expect((await send({ path: "/@team/app/" })).text).toBe("hello");
    expect((await client.workers.list()).map(({ name }) => name)).toContain("@team/app");
    expect(await client.workers.removeVersion({ params: version })).toEqual({ success: true });
    await expect(client.workers.remove({ params: version })).rejects.toMatchObject({ code: "WORKER_NOT_FOUND" });
    const { data } = await client.keys.create({ body: { name: "a key", role: "custom", permissions: ["keys:read"] } });
    expect((await connect(daemon.url, data.key, { apiBase }).keys.list()).keys).toHaveLength(1);
    expect((await client.keys.meta()).roles).toContain("custom");
    expect(await client.keys.revoke({ params: { id: String(data.id) } })).toEqual({ success: true });
    await expect(connect(daemon.url, data.key, { apiBase }).keys.list()).rejects.toMatchObject({ code: "AUTH_REQUIRED" });
  });

  test("responds with 404 at other base paths, and rejects workers with reserved names", async () => {
    const elsewhere = ["/api", "/_/api", "/deep/er/api", "/API", `${apiBase}x`, `/.${apiBase}`].filter((base) => base !== apiBase);
    for (const base of elsewhere) expect((await send({ path: `${base}/health/live` })).status, base).toBe(404);

    const client = connect(daemon.url, daemon.rootKey, { apiBase });
    for (const name of ["api", "cpanel", apiBase.split("/")[1] ?? ""]) {
      const archive = await packFiles({ "manifest.yaml": manifestOf(name, "1.0.0"), "index.html": "mine" });
      await expect(client.workers.upload({ file: uploadOf("app.tgz", archive) })).rejects.toMatchObject({ code: "INVALID_PACKAGE_NAME" });
    }
    expect((await client.workers.list()).filter(({ source }) => source === "uploaded")).toEqual([]);
  });
});

function expectOwnFilesOnly({ text, headers }: Answer): void {
  expect(text).not.toMatch(/https?:\/\//);
  // This policy blocks inline scripts.
  expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|javascript:/i);
  const policy = String(headers["content-security-policy"]);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
}
