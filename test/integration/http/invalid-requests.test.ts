import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { exchange, openConnection } from "../../support/exchange.js";
import { connect } from "../../support/connect.js";
import { expectRefusal } from "../../support/send.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});

afterEach(async () => {
  const client = connect(daemon.url, daemon.rootKey);
  expect((await client.health.live()).ok).toBe(true);
  expect(await client.keys.list()).toEqual({ keys: [] });
});

afterAll(() => daemon.dispose());

const createKey = '{"name":"made by mistake","role":"admin"}';
const jsonHead = () => `POST /api/keys HTTP/1.1\r\nHost: a\r\nX-API-Key: ${daemon.rootKey}\r\nContent-Type: application/json\r\n`;

const expecting = (key: string) => `${jsonHead().replace(daemon.rootKey, key)}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`;

describe("an invalid HTTP request", () => {
  test.each([
    ["a single word", "GARBAGE\r\n\r\n"],
    ["a method in lower case", "get /api/health HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["an unknown method", "FOO /api/health HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["bare line feeds", "GET /api/health HTTP/1.1\nHost: a\n\n"],
    ["a folded header", "GET /api/health HTTP/1.1\r\nHost: a\r\nX-A: a\r\n b\r\n\r\n"],
    ["a space before the colon", "GET /api/health HTTP/1.1\r\nHost : a\r\n\r\n"],
    ["NUL in a header", "GET /api/health HTTP/1.1\r\nHost: a\r\nX-A: \0\r\n\r\n"],
    ["NUL in the path", "GET /api/health\0 HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
    ["an HTTP/2 connection preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["an unknown version", "GET /api/health HTTP/3.0\r\nHost: a\r\n\r\n"],
  ])("receives a JSON error with the code INVALID_REQUEST (request with %s)", async (_, bytes) => {
    expectRefusal(await exchange(daemon.url, bytes), "INVALID_REQUEST");
  });

  test("receives a 431 response when its headers are too large", async () => {
    const answer = await exchange(daemon.url, `GET /api/health HTTP/1.1\r\nHost: a\r\nX-A: ${"a".repeat(20_000)}\r\n\r\n`);

    expect(answer.status).toBe(431);
    expect(JSON.parse(answer.text)).toEqual({ error: { code: "INVALID_REQUEST", message: "The request's headers are too large." } });
    expect(answer.headers["x-request-id"]).toBeDefined();
  });
});

describe("a request whose body length is ambiguous", () => {
  test.each([
    ["Content-Length and Transfer-Encoding", `Content-Length: ${createKey.length}\r\nTransfer-Encoding: chunked\r\n`],
    ["two lengths", `Content-Length: ${createKey.length}\r\nContent-Length: 1\r\n`],
    ["one length twice", `Content-Length: ${createKey.length}\r\nContent-Length: ${createKey.length}\r\n`],
    ["a signed length", `Content-Length: +${createKey.length}\r\n`],
    ["a negative length", "Content-Length: -1\r\n"],
    ["a Transfer-Encoding with chunked not last", "Transfer-Encoding: chunked, identity\r\n"],
    ["a chunk without a size", "Transfer-Encoding: chunked\r\n"],
  ])("is rejected with the code INVALID_REQUEST (ambiguity: %s)", async (_, framing) => {
    expectRefusal(await exchange(daemon.url, `${jsonHead()}${framing}\r\n${createKey}`), "INVALID_REQUEST");
  });

  test.each(["xchunked", "gzip", "gzip, chunked", "identity"])(
    "is rejected with the code NOT_IMPLEMENTED when Transfer-Encoding is %s",
    async (coding) => {
      const body = `${createKey.length.toString(16)}\r\n${createKey}\r\n0\r\n\r\n`;

      expectRefusal(await exchange(daemon.url, `${jsonHead()}Transfer-Encoding: ${coding}\r\n\r\n${body}`), "NOT_IMPLEMENTED");
    },
  );

  test("is rejected and deletes nothing when its method is DELETE", async () => {
    const { data } = await connect(daemon.url, daemon.rootKey).keys.create({ body: { name: "stays", role: "viewer" } });
    const head = `DELETE /api/keys/${data.id} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${daemon.rootKey}\r\n`;

    expectRefusal(await exchange(daemon.url, `${head}Transfer-Encoding: xchunked\r\n\r\n`), "NOT_IMPLEMENTED");
    expectRefusal(await exchange(daemon.url, `${head}Host: b\r\n\r\n`), "INVALID_REQUEST");

    expect((await connect(daemon.url, daemon.rootKey).keys.list()).keys).toHaveLength(1);
    await connect(daemon.url, daemon.rootKey).keys.revoke({ params: { id: String(data.id) } });
  });

  test("receives no second response after an invalid chunk, and the connection closes", async () => {
    const { socket, nextAnswer, closed } = await openConnection(daemon.url);
    socket.write("POST /api/docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    expectRefusal(await nextAnswer(), "METHOD_NOT_ALLOWED");

    socket.write("not a chunk\r\n\r\n");

    expect(await closed()).not.toMatch(/HTTP\/1\.1 200/);
  });
});

describe("the host of an HTTP request", () => {
  test.each([
    ["no Host header", "GET /api/health HTTP/1.1\r\n\r\n"],
    ["two different Host headers", "GET /api/health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
    ["two equal Host headers", "GET /api/health HTTP/1.1\r\nHost: a\r\nHOST: a\r\n\r\n"],
    ["a target of another host", "GET http://evil.example/api/health HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["a target of another port", "GET http://a:1/api/health HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["a target with user info", "GET http://a@evil.example/api/health HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["two Host headers for a worker", "GET /app/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
    ["CONNECT", "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n"],
  ])("is rejected with the code INVALID_REQUEST (request with %s)", async (_, bytes) => {
    expectRefusal(await exchange(daemon.url, bytes), "INVALID_REQUEST");
  });

  test.each([
    ["a target with the same host", "GET http://a:1/api/health HTTP/1.1\r\nHost: A:1\r\n\r\n"],
    ["HTTP/1.0 without a Host", "GET /api/health HTTP/1.0\r\n\r\n"],
    ["an offer to upgrade, which is ignored", "GET /api/health HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"],
  ])("is accepted when it is unambiguous (request with %s)", async (_, bytes) => {
    const answer = await exchange(daemon.url, bytes);

    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({ status: "healthy" });
  });

  test("is read from Host, not from Forwarded headers, for the Origin check", async () => {
    const body = '{"key":"unknown"}';
    const head = `POST /api/admin/session HTTP/1.1\r\nHost: a\r\nOrigin: http://evil.example\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example\r\n`;

    const answer = await exchange(daemon.url, `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);

    expectRefusal(answer, "CSRF_ORIGIN_MISMATCH");
  });
});

describe("a request with an Expect header", () => {
  test("receives no 100 Continue response when the daemon rejects the call", async () => {
    const { socket, nextAnswer, closed } = await openConnection(daemon.url);
    socket.write(expecting("wrong"));

    expectRefusal(await nextAnswer(), "AUTH_REQUIRED");

    expect(await closed()).toBe("");
  });

  test("receives a 100 Continue response before its body when the call is allowed", async () => {
    const { socket, nextAnswer } = await openConnection(daemon.url);
    socket.write(expecting(daemon.rootKey));
    expect((await nextAnswer()).status).toBe(100);

    socket.write("{}");

    expectRefusal(await nextAnswer(), "INVALID_KEY_NAME");
    socket.destroy();
  });

  test("is rejected with EXPECTATION_FAILED when Expect is not 100-continue", async () => {
    expectRefusal(await exchange(daemon.url, expecting(daemon.rootKey).replace("100-continue", "the-unexpected")), "EXPECTATION_FAILED");
  });
});

test("the daemon sends the responses to pipelined requests in order", async () => {
  const { socket, nextAnswer } = await openConnection(daemon.url);
  const ids = Array.from({ length: 200 }, (_, index) => `request-${index}`);

  socket.write(ids.map((id) => `GET /api/health/live HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}\r\n\r\n`).join(""));

  for (const id of ids) expect((await nextAnswer()).headers["x-request-id"]).toBe(id);
  socket.destroy();
});

test("the daemon serves requests after a connection reset, and logs only valid JSON", async () => {
  const { socket } = await openConnection(daemon.url);
  socket.write("GET /api/docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve));

  socket.resetAndDestroy();

  expect((await connect(daemon.url, daemon.rootKey).health.live()).ok).toBe(true);
  for (const line of daemon.output().trim().split("\n")) expect(() => JSON.parse(line) as unknown, line).not.toThrow();
});
