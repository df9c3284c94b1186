import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { request, type Dispatcher } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => daemon.dispose());

async function call(path: string, headers: Record<string, string> = {}, options: { method?: Dispatcher.HttpMethod; body?: string } = {}) {
  const response = await request(daemon.url + path, {
    method: options.method ?? "GET",
    headers: { "x-api-key": daemon.rootKey, ...headers },
    ...(options.body === undefined ? {} : { body: options.body }),
  });
  return { status: response.statusCode, headers: response.headers, body: Buffer.from(await response.body.arrayBuffer()) };
}

describe("the body of an API response", () => {
  test.each([
    ["br", "gzip, deflate, br", brotliDecompressSync],
    ["gzip", "gzip", gunzipSync],
  ] as const)("is compressed if it has at least 1 KB and the client accepts the coding %s", async (coding, acceptEncoding, decompress) => {
    for (const path of ["/api/openapi.json", "/api/docs/swagger-ui.css", "/api/metrics"]) {
      const plain = await call(path);
      const { status, headers, body } = await call(path, { "accept-encoding": acceptEncoding });
      expect([path, status, headers["content-encoding"]]).toEqual([path, 200, coding]);
      expect(headers["vary"]?.toString().toLowerCase()).toContain("accept-encoding");
      expect(body.length).toBeLessThan(plain.body.length / 2);
      const text = decompress(body).toString();
      // Numbers change between two calls.
      if (path === "/api/metrics") expect(text).toContain("# HELP ");
      else expect(text).toBe(plain.body.toString());
    }
  });

  test("is uncompressed below 1 KB, and for a client without Accept-Encoding", async () => {
    const silent = await call("/api/openapi.json");
    expect(silent.headers["content-encoding"]).toBeUndefined();
    expect(silent.headers["content-length"]).toBe(String(silent.body.length));
    const short = await call("/api/health", { "accept-encoding": "br" });
    expect([short.status, short.headers["content-encoding"]]).toEqual([200, undefined]);
  });

  test("has no Content-Length in the response to HEAD if the GET response is compressed", async () => {
    const head = await call("/api/openapi.json", { "accept-encoding": "br" }, { method: "HEAD" });
    expect([head.status, head.body.length, head.headers["content-length"]]).toEqual([200, 0, undefined]);
  });

  test("is uncompressed when it contains an API key", async () => {
    const created = await call(
      "/api/keys",
      { "accept-encoding": "br, gzip", "content-type": "application/json", origin: daemon.url },
      {
        method: "POST",
        body: JSON.stringify({ name: "n".repeat(64), role: "viewer", namespaces: Array.from({ length: 90 }, (_, i) => `@namespace-${i}`) }),
      },
    );
    expect(created.status).toBe(201);
    expect(created.body.length).toBeGreaterThan(1024);
    expect(created.headers["content-encoding"]).toBeUndefined();
    expect(created.body.toString()).toContain("rtk_");
  });

  test("is uncompressed when it is an event stream", async () => {
    const controller = new AbortController();
    const { headers, body } = await request(`${daemon.url}/api/events`, {
      headers: { "x-api-key": daemon.rootKey, "accept-encoding": "br" },
      signal: controller.signal,
    });
    body.on("error", () => undefined);
    expect([headers["content-type"], headers["content-encoding"]]).toEqual(["text/event-stream; charset=utf-8", undefined]);
    controller.abort();
  });
});
