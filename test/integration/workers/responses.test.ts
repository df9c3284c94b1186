import http from "node:http";
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ourKey, WorkerServer } from "../../support/worker-server.js";

const app = `
let busyUntilMs = 0;
const stayBusy = () => { busyUntilMs = Date.now() + 700; while (Date.now() < busyUntilMs); };
const answers = {
  "/undefined": () => undefined,
  "/null": () => null,
  "/text": () => "text",
  "/object": () => ({ status: 200 }),
  "/error-response": () => Response.error(),
  "/used": async () => { const response = new Response("x"); await response.text(); return response; },
  "/used-stream": async () => { const response = new Response(new Blob(["x"]).stream()); await response.text(); return response; },
  "/locked": () => { const response = new Response(new Blob(["x"]).stream()); response.body.getReader(); return response; },
  "/many-headers": () => { const headers = new Headers(); for (let index = 0; index < 20000; index += 1) headers.append("x-" + index, "v"); return new Response("x", { headers }); },
  "/huge-header": () => new Response("x", { headers: { "x-huge": "v".repeat(5_000_000) } }),
  "/faked": () => ({ __proto__: Response.prototype }),
  "/framing": () => new Response("framed", { headers: { "transfer-encoding": "gzip", "content-length": "3", connection: "upgrade", "keep-alive": "x", upgrade: "h2c", trailer: "x" } }),
  "/no-content": () => new Response(null, { status: 204 }),
  "/not-modified": () => new Response(null, { status: 304, headers: { etag: '"a"' } }),
  "/reset": () => new Response(null, { status: 205 }),
  "/body": () => new Response("body"),
  "/stream": () => new Response(new Blob(["streamed"]).stream()),
  "/sized-head": () => new Response(null, { headers: { "content-length": "1234" } }),
  "/cookies": () => { const response = new Response("x"); for (const cookie of ["a=1", "b=2", "runtime_api_key=stolen; Path=/", " RUNTIME_API_KEY =x", "runtime_api_key2=mine"]) response.headers.append("set-cookie", cookie); return response; },
  "/reach": () => new Response("x", { headers: { "clear-site-data": '"*"', "service-worker-allowed": "/", "x-request-id": "forged", "x-own": "kept" } }),
  "/teapot": () => new Response("short and stout", { status: 418 }),
  "/latin": () => new Response("x", { headers: { "x-latin": "caf\\u00e9" } }),
  "/busy-afterwards": () => { queueMicrotask(stayBusy); return new Response("x"); },
  "/busy-until": () => new Response(String(busyUntilMs)),
  "/inject": () => new Response("x", { headers: { "x-a": "1" } }),
};
export default { fetch: (request) => answers[new URL(request.url).pathname](request) };`;

const echo = `export default { async fetch(request, env) {
  return Response.json({ headers: [...request.headers], url: request.url, body: await request.text() });
} };`;

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
  await server.add("answers", { files: { "index.js": app } });
  await server.add("echo", { files: { "index.js": echo } });
});
afterAll(() => server.stop());

describe("an invalid response of a worker", () => {
  test.each([
    "/undefined",
    "/null",
    "/text",
    "/object",
    "/error-response",
    "/used",
    "/used-stream",
    "/locked",
    "/many-headers",
    "/huge-header",
    "/faked",
    "/no-such-handler",
  ])("causes a 502 with WORKER_BAD_RESPONSE (worker path %s)", async (target) => {
    expect(await server.refusal(`/answers${target}`)).toMatchObject({ status: 502, code: "WORKER_BAD_RESPONSE" });
    expect(await server.text("/answers/body")).toBe("body");
  });
});

/** Returns all bytes that the server sends on one connection for these requests. */
async function exchange(...requests: string[]): Promise<string> {
  const socket = connect(server.port, "127.0.0.1");
  const head = requests.map(
    (line, index) => `${line} HTTP/1.1\r\nHost: a\r\n${index === requests.length - 1 ? "Connection: close\r\n" : ""}\r\n`,
  );
  socket.write(head.join(""));
  let text = "";
  socket.on("data", (chunk) => (text += String(chunk)));
  await once(socket, "close");
  return text;
}

describe("the bytes of a worker's response", () => {
  test("contain Content-Length and Transfer-Encoding of the daemon, not of the worker", async () => {
    const text = await exchange("GET /answers/framing", "GET /answers/body");
    expect(text).toContain("content-length: 6\r\n");
    expect(text).not.toMatch(/transfer-encoding: gzip|upgrade|trailer|content-length: 3/i);
    expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(2);
    expect(text.endsWith("body")).toBe(true);
  });

  test.each(["GET /answers/no-content", "GET /answers/not-modified", "HEAD /answers/body", "HEAD /answers/stream", "GET /answers/reset"])(
    "end after the headers when the request is %s",
    async (line) => {
      const text = await exchange(line, "GET /answers/body");
      expect(text.split("\r\n\r\n")[1]).toMatch(/^HTTP\/1\.1 200/);
      expect(text.endsWith("\r\n\r\nbody")).toBe(true);
    },
  );

  test("contain the Content-Length of GET in a response to HEAD", async () => {
    expect(await exchange("HEAD /answers/body")).toContain("content-length: 4\r\n");
    expect(await exchange("HEAD /answers/sized-head")).toContain("content-length: 1234\r\n");
  });

  test("contain each cookie of the worker separately, but not the session cookie", async () => {
    expect((await server.fetch("/answers/cookies")).headers.getSetCookie()).toEqual(["a=1", "b=2", "runtime_api_key2=mine"]);
  });

  test("contain no header that affects other workers of the host", async () => {
    const { headers } = await server.fetch("/answers/reach");
    expect([headers.get("clear-site-data"), headers.get("service-worker-allowed"), headers.get("x-own")]).toEqual([null, null, "kept"]);
    expect(headers.get("x-request-id")).toMatch(/^request-/);
  });

  test("contain the worker's status and Latin-1 header values", async () => {
    expect((await server.fetch("/answers/teapot")).status).toBe(418);
    expect((await server.fetch("/answers/latin")).headers.get("x-latin")).toBe("café");
  });
});

/** Returns the headers that an app receives when a client sends these headers. */
async function seen(headers: Record<string, string | string[]>): Promise<Record<string, string>> {
  const request = http.get({ host: "127.0.0.1", port: server.port, path: "/echo/", headers, agent: false });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Object.fromEntries((JSON.parse(Buffer.concat(chunks).toString()) as { headers: [string, string][] }).headers);
}

describe("the request that a worker receives", () => {
  test("contains no credentials for the daemon, in any spelling", async () => {
    const headers = await seen({
      "X-API-Key": ourKey,
      "X-Runtime-Internal": "true",
      Authorization: `bearer  ${ourKey}`,
      Cookie: `a=1; runtime_api_key=${ourKey}; b=2;RUNTIME_API_KEY=x`,
    });
    expect(JSON.stringify(headers)).not.toContain(ourKey);
    expect(headers).toMatchObject({ cookie: "a=1; b=2" });
    expect(Object.keys(headers)).not.toContain("authorization");
    expect(Object.keys(headers).filter((name) => /api-key|internal/.test(name))).toEqual([]);
    expect(Object.keys(await seen({ Cookie: "runtime_api_key=x" }))).not.toContain("cookie");
  });

  test("contains credentials and cookies for the worker", async () => {
    expect(await seen({ Authorization: "Bearer own-token", Cookie: "session=1" })).toMatchObject({
      authorization: "Bearer own-token",
      cookie: "session=1",
    });
    expect(await seen({ Authorization: "Basic own" })).toMatchObject({ authorization: "Basic own" });
  });

  test("contains x-base and x-request-id of the daemon, not of the client", async () => {
    const headers = await seen({
      "X-Base": "/evil",
      "X-Request-Id": "evil",
      "X-Forwarded-For": "1.2.3.4",
      "X-Forwarded-Proto": "https, http",
      TE: "trailers",
      "Keep-Alive": "x",
    });
    expect(headers).toMatchObject({
      "x-base": "/echo",
      "x-request-id": expect.stringMatching(/^request-/),
      "x-forwarded-for": "1.2.3.4, 127.0.0.1",
      "x-forwarded-proto": "https",
    });
    expect(Object.keys(headers)).not.toContain("te");
    expect(Object.keys(headers)).not.toContain("connection");
  });

  test("has the scheme of the client's connection in request.url", async () => {
    const body = (await (await server.fetch("/echo/x", { headers: { "x-forwarded-proto": "https" } })).json()) as { url: string };
    expect(body.url).toBe(`https://127.0.0.1:${server.port}/x`);
  });

  test("has no body for the method GET", async () => {
    const socket = connect(server.port, "127.0.0.1");
    socket.write("GET /echo/ HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc");
    let text = "";
    socket.on("data", (chunk) => (text += String(chunk)));
    await once(socket, "close");
    expect(text).toContain('"body":""');
  });
});

test("the daemon sends the response while the worker continues with other work", async () => {
  await (await server.fetch("/answers/busy-afterwards")).text();
  const answeredMs = Date.now();
  const busyUntilMs = Number(await (await server.fetch("/answers/busy-until")).text());
  expect(busyUntilMs).toBeGreaterThan(answeredMs);
});
