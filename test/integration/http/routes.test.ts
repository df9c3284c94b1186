import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "../../../src/shared/contract/index.js";
import { createSender, expectRefusal } from "../../support/send.js";
import { inUnforeseenFailure } from "../../support/in-unforeseen-failure.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

let daemon: TestDaemon;
let send: ReturnType<typeof createSender>;

beforeAll(async () => {
  daemon = await startDaemon();
  send = createSender(daemon.url);
});

afterAll(async () => {
  await send.close();
  await daemon.dispose();
});

const samples: Readonly<Record<string, string>> = {
  ":scope": "@team",
  ":name": "app",
  ":version": "1.0.0",
  ":id": "7",
  ":host": "app.example.org",
  ":namespace": "@team",
  ":key": "TOKEN",
  ":index": "0",
  ":pid": "1",
  ":instance": "eu-1",
};
/** Lists that exist even if no package has the name, because secrets can be set before the first upload. */
const emptyLists = new Set(["/workers/:scope/:name/secrets", "/namespaces/:namespace/secrets"]);
const queries: Readonly<Record<string, string>> = { "/hosts/ask": "?domain=app.example.org" };
const routes = operations.map(({ endpoint }) => {
  const prefix = endpoint.atOrigin ? "" : "/api";
  const pattern = new RegExp(`^${prefix}${endpoint.path.replaceAll(".", "\\.").replace(/:\w+/g, "[^/]+")}$`);
  return { endpoint, pattern, sample: prefix + endpoint.path.replace(/:\w+/g, (parameter) => samples[parameter] ?? "") };
});
const paths = [...new Set(routes.map(({ sample }) => sample))].map((samplePath) => {
  const methods = routes.filter(({ pattern }) => pattern.test(samplePath)).map(({ endpoint }) => endpoint.method as string);
  return { path: samplePath, methods: methods.includes("GET") ? [...methods, "HEAD"] : methods };
});

describe("an API route", () => {
  test.each(paths)("accepts $methods at $path, and sends 405 with Allow for other methods", async ({ path: target, methods }) => {
    const allow = [...new Set(methods)].toSorted().join(", ");
    const others = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "SEARCH"].filter(
      (method) => !methods.includes(method),
    );

    for (const method of others) {
      const answer = await send({ method, path: target, headers: { "x-api-key": daemon.rootKey } });
      expect(answer.headers["allow"], method).toBe(allow);
      if (method === "HEAD") expect(answer).toMatchObject({ status: 405, text: "" });
      else expectRefusal(answer, "METHOD_NOT_ALLOWED", method);
    }
    const options = await send({ method: "OPTIONS", path: target, headers: { origin: "http://evil.example" } });
    expect(options).toMatchObject({ status: 204, text: "", headers: { allow } });
    expect(Object.keys(options.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  // Event streams never end and downloads need parameters. Both have their own tests.
  test.each(routes.filter(({ endpoint }) => endpoint.method === "GET" && !endpoint.download && (endpoint.result || !endpoint.events)))(
    "responds to HEAD with the headers of GET and no body (path: $sample)",
    async ({ endpoint, sample }) => {
      const target = {
        path: sample + (queries[endpoint.path] ?? ""),
        headers: { "x-api-key": daemon.rootKey, "x-request-id": "same" },
      };
      const get = await send(target);
      const head = await send({ ...target, method: "HEAD" });

      expect(head.text).toBe("");
      const [ofHead, ofGet] = [head, get].map(
        ({ headers: { date: _date, connection: _connection, "keep-alive": _keepAlive, ...headers } }) => headers,
      );
      // Current numbers can have more digits than those of the previous call.
      const { "content-length": lengthOfHead, ...others } = ofHead ?? {};
      expect({ ...others, "content-length": sample.includes("/metrics") ? ofGet?.["content-length"] : lengthOfHead }).toEqual(ofGet);
      expect(head.status).toBe(get.status);
      const isUnknown = (endpoint.params && !emptyLists.has(endpoint.path)) || endpoint.path in queries;
      expect(get.status).toBe(isUnknown ? 404 : 200);
    },
  );

  test("requires a key for HEAD when GET requires a key", async () => {
    expect(await send({ method: "HEAD", path: "/api/keys" })).toMatchObject({ status: 401, text: "" });
  });
});

describe("a request with an unknown path or query string", () => {
  test.each([
    "/api",
    "/api/",
    "/api/nothing",
    "/api/apps",
    "/api/health/",
    "/api/Health",
    "/api//health",
    "/api/health/ready/now",
    "/api/health;x=1",
    "/api/%68ealth",
    "/api/./health",
    "/api/x/../health",
    "/api/keys/1/2",
    "/api/workers/",
    "/api/workers//app",
    "/api/docs/",
    "/api/docs/package.json",
    "/api/docs/%2e%2e",
    "/api/docs/..%2f..%2fpackage.json",
    "/api/docs/swagger-ui-bundle.js.map",
    "/api/docs/__proto__",
    "/api/docs/constructor",
    "/.well-known/",
    "/.well-known/runtime/",
    "/.well-known/../api/keys",
    "/API/health",
    "/apixyz/health",
    "//api/health",
    "/nothing",
    "/",
    "/%",
    "/..",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/api%2fhealth",
    "/api\\health",
  ])("receives NOT_FOUND at the path %s", async (target) => {
    expectRefusal(await send({ path: target, headers: { "x-api-key": daemon.rootKey } }), "NOT_FOUND", target);
  });

  test.each(["?a=1", `?${"a=1&".repeat(2_000)}`, "?__proto__=x&constructor=y", "?a[]=1&a[b]=2", "?%", "?%ff", "?", "??"])(
    "is accepted with the query string %s",
    async (query) => {
      expect((await send({ path: `/api/health/live${query}` })).status).toBe(200);
    },
  );
});

describe("the request ID of a response", () => {
  const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

  test.each(["/api/health/live", "/api/nothing", "/api/keys", "/nothing", "/.well-known/runtime"])(
    "equals the valid X-Request-Id of the client (path %s)",
    async (target) => {
      for (const id of ["a", "~!\"#$%&'()", "f".repeat(128)])
        expect((await send({ path: target, headers: { "x-request-id": id } })).headers["x-request-id"]).toBe(id);
    },
  );

  test.each(["/api/health/live", "/api/nothing", "/api/keys", "/nothing"])(
    "is a new UUID at the path %s when the client sends an invalid X-Request-Id",
    async (target) => {
      for (const id of ["", "f".repeat(129), "two words", "tab\tbed", "ünlaut", ["one", "two"]])
        expect((await send({ path: target, headers: { "x-request-id": id } })).headers["x-request-id"]).toMatch(uuid);
    },
  );

  test("is different for each request when the client sends no X-Request-Id", async () => {
    const answers = [await send({ path: "/api/health/live" }), await send({ path: "/api/health/live" })];

    expect(answers[0]?.headers["x-request-id"]).not.toBe(answers[1]?.headers["x-request-id"]);
  });
});

test("the daemon logs all details of an internal error and sends none to the client", async () => {
  const body = '--B\r\nContent-Disposition: form-data; name="file"; filename="a.tgz"\r\n\r\nx\r\n--B--\r\n';
  const headers = { "x-api-key": daemon.rootKey, "content-type": "multipart/form-data; boundary=B", "x-request-id": "the-failing-call" };

  const answer = await inUnforeseenFailure(daemon, () => send({ method: "POST", path: "/api/workers/upload", headers, body }));

  expectRefusal(answer, "INTERNAL_ERROR");
  expect(answer.text).not.toMatch(/ELOOP|spool|\/tmp|at |\.ts|\.js/);
  const logged = () =>
    daemon
      .output()
      .split("\n")
      .find((text) => text.includes('"level":50') && text.includes("the-failing-call"));
  await expect.poll(logged).toBeDefined();
  const expected = { requestId: "the-failing-call", code: "INTERNAL_ERROR", err: { code: "ELOOP" } };
  expect(JSON.parse(logged() ?? "")).toMatchObject(expected);
});
