import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, uploadOf } from "../support/connect.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

/** Headers with an effect on all apps of the host or on the proxy in front of the daemon. */
const originWide: Readonly<Record<string, string>> = {
  "strict-transport-security": "max-age=31536000; includeSubDomains",
  nel: '{"report_to":"x","max_age":31536000}',
  "report-to": '{"group":"x","max_age":31536000,"endpoints":[{"url":"https://evil.example"}]}',
  "reporting-endpoints": 'default="https://evil.example"',
  "alt-svc": 'h3="evil.example:443"',
  "origin-agent-cluster": "?1",
  "x-accel-redirect": "/internal/secret",
  "x-accel-buffering": "no",
  "x-accel-expires": "31536000",
  "x-accel-limit-rate": "1",
  "x-accel-charset": "utf-7",
  "x-sendfile": "/etc/passwd",
  "accept-ch": "Sec-CH-UA-Model",
  "x-lighttpd-send-file": "/etc/passwd",
  "x-litespeed-location": "/admin",
  "x-reproxy-url": "http://127.0.0.1:1/",
  "clear-site-data": '"cookies"',
  "service-worker-allowed": "/",
};
const own = { "x-own": "kept", "content-security-policy": "default-src 'self'" };
const source = `export default { fetch(request) {
  const headers = new Headers(${JSON.stringify({ ...originWide, ...own })});
  const isStreamed = new URL(request.url).pathname === "/streamed";
  return new Response(isStreamed ? new ReadableStream({ start(controller) { controller.enqueue(new Uint8Array(10)); controller.close(); } }) : "ok", { headers });
} };`;

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startDaemon();
  const client = connect(daemon.url, daemon.rootKey);
  await uploadWorker(client, "module", { "index.js": source });
  const headers = Object.entries({ ...originWide, ...own }).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}\n`);
  await uploadWorker(client, "site", { "index.html": "<title>site</title>" }, `headers:\n${headers.join("")}`);
});
afterAll(() => daemon.dispose());

describe("the response of a worker", () => {
  it.each(["/module/", "/module/streamed", "/site/", "/site@1.0.0/"])(
    "contains no header that affects other workers of the host (request path: %s)",
    async (path) => {
      const response = await fetch(daemon.url + path);
      expect(response.status).toBe(200);
      const names = [...response.headers.keys()];
      expect(names.filter((name) => name in originWide)).toEqual([]);
      expect(Object.fromEntries([...response.headers].filter(([name]) => name in own))).toEqual(own);
    },
  );

  it("can contain a Strict-Transport-Security header that a plugin adds", async () => {
    const plugin = await packFiles({
      "manifest.yaml": manifestOf("strict", "1.0.0"),
      "plugin.js": `export default { onResponse(response) { response.headers.set("strict-transport-security", "max-age=60"); return response; } };`,
    });
    await connect(daemon.url, daemon.rootKey).plugins.upload({ file: uploadOf("plugin.tgz", plugin) });
    const response = await fetch(`${daemon.url}/module/`);
    expect(response.headers.get("strict-transport-security")).toBe("max-age=60");
    expect(response.headers.get("nel")).toBeNull();
  });
});

describe("the shipped nginx.conf", () => {
  it("ignores X-Accel headers of a response, which would control nginx", async () => {
    const template = await readFile(new URL("../../builtin/proxy/nginx.conf", import.meta.url), "utf8");
    const [, ignored = ""] = /^\s*proxy_ignore_headers ([^;]+);$/m.exec(template) ?? [];
    expect(ignored.split(" ").toSorted()).toEqual([
      "X-Accel-Buffering",
      "X-Accel-Charset",
      "X-Accel-Expires",
      "X-Accel-Limit-Rate",
      "X-Accel-Redirect",
    ]);
  });
});
