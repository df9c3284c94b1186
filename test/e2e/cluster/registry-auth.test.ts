import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { OciBlobStore } from "../../../src/server/registry/oci-blob-store.js";
import { RegistryClient } from "../../../src/server/registry/registry-client.js";
import type { Digest } from "../../../src/server/registry/verified-download.js";
import { startRegistry, type TestRegistry } from "../../support/start-registry.js";

const content = "content of an archive";
const digest: Digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
const sizeBytes = content.length;
/** Password file of the registry: the user `ann` with the password `p:w`. */
const passwords = "ann:$2y$05$abcdefghijklmnopqrstuuM7E59t/pBLB8x4aZysvBLD.kgRitkEK\n";

let directory: string;
let registry: TestRegistry;
let file: string;
const servers: Server[] = [];

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "registry-auth-"));
  file = path.join(directory, "archive");
  await writeFile(file, content);
  await writeFile(path.join(directory, "htpasswd"), passwords);
  registry = await startRegistry({
    auth: `auth: { htpasswd: { realm: test, path: ${JSON.stringify(path.join(directory, "htpasswd"))} } }`,
  });
});

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

afterAll(async () => {
  await registry.dispose();
  await rm(directory, { recursive: true, force: true });
});

const open = async (origin: string, credential: () => string | undefined) =>
  new OciBlobStore(await RegistryClient.at({ origin, repository: "runtimed", credential }));

/** Starts an HTTP server. Returns its origin and the received requests. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: { target: string; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    requests.push({ target: `${request.method} ${request.url}`, authorization: request.headers.authorization });
    request.resume();
    answer(request, response);
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

async function receive(store: OciBlobStore): Promise<string> {
  const into = path.join(directory, "received");
  await rm(into, { force: true });
  await store.get({ digest, sizeBytes }, into);
  return readFile(into, "utf8");
}

test("a registry upload fails with a wrong password, and succeeds with the right one", async () => {
  let credential: string | undefined = "ann:wrong";
  const store = await open(registry.url, () => credential);
  const blob = { digest, sizeBytes, file, mediaType: "application/octet-stream" };
  await expect(store.put(blob)).rejects.toMatchObject({ kind: "unauthorised", message: expect.not.stringContaining("wrong") as string });
  credential = undefined;
  await expect(store.put(blob)).rejects.toMatchObject({ kind: "unauthorised" });
  credential = "ann:p:w";
  await store.put(blob);
  expect(await receive(store)).toBe(content);
  await store.close();
});

test("a registry call fails when the credential cannot be read", async () => {
  const store = await open(registry.url, () => {
    throw new Error("ENOENT");
  });
  await expect(store.has(digest)).rejects.toMatchObject({ name: "RegistryError", kind: "unauthorised" });
  await store.close();
});

test("registry calls reuse a token, and request a new token after a rejection", async () => {
  const accepted = new Set(["Bearer token-1"]);
  let issued = 0;
  const tokens = await serve((_request, response) => {
    issued += 1;
    response.end(JSON.stringify({ token: `token-${issued}` }));
  });
  const server = await serve((request, response) => {
    if (accepted.has(request.headers.authorization ?? "")) return response.end(content);
    const challenge = `Bearer realm="${tokens.origin}/token",service="test",scope="repository:runtimed:pull"`;
    return response.writeHead(401, { "www-authenticate": challenge }).end();
  });
  const store = await open(server.origin, () => "ann:secret");
  expect([await receive(store), await receive(store)]).toEqual([content, content]);
  accepted.clear();
  accepted.add("Bearer token-2");
  expect(await receive(store)).toBe(content);
  const target = "GET /token?service=test&scope=repository%3Aruntimed%3Apull%2Cpush";
  const authorization = `Basic ${Buffer.from("ann:secret").toString("base64")}`;
  expect(tokens.requests).toEqual([1, 2].map(() => ({ target, authorization })));
  await store.close();
});

test("a download follows a redirect to another server without sending the credential", async () => {
  const storage = await serve((_request, response) => response.end(content));
  const server = await serve((request, response) => {
    if (request.headers.authorization === undefined) return response.writeHead(401, { "www-authenticate": "Basic realm=x" }).end();
    return response.writeHead(307, { location: `${storage.origin}/signed?part=1` }).end();
  });
  const store = await open(server.origin, () => "ann:secret");
  expect(await receive(store)).toBe(content);
  expect(storage.requests).toEqual([{ target: "GET /signed?part=1", authorization: undefined }]);
  await store.close();
});

test("a call fails when the registry redirects endlessly", async () => {
  const server = await serve((request, response) => response.writeHead(307, { location: request.url }).end());
  const store = await open(server.origin, () => undefined);
  await expect(receive(store)).rejects.toMatchObject({ kind: "unexpected" });
  expect(server.requests).toHaveLength(4);
  await store.close();
});

test("an upload accepts a relative Location header with and without a query", async () => {
  for (const location of ["/uploads/1", "/uploads/1?state=a%3D"]) {
    const puts: string[] = [];
    const server = await serve(({ method, url = "" }, response) => {
      if (method === "HEAD") return response.writeHead(404).end();
      if (method === "POST") return response.writeHead(202, { location }).end();
      puts.push(url);
      return response.writeHead(201).end();
    });
    const store = await open(server.origin, () => undefined);
    await store.put({ digest, sizeBytes, file, mediaType: "application/octet-stream" });
    const begin = `${location}${location.includes("?") ? "&" : "?"}digest=sha256%3A`;
    expect(puts.slice(0, 2).map((url) => url.startsWith(begin))).toEqual([true, true]);
    expect(puts[2]).toBe(`/v2/runtimed/manifests/${digest.replace(":", "-")}`);
    await store.close();
  }
});

test("a download fails after 2 s when the registry stops in the middle of a blob", async () => {
  const server = await serve((_request, response) => {
    response.writeHead(200, { "content-length": String(sizeBytes) });
    response.write(content.slice(0, 5));
  });
  const store = await open(server.origin, () => undefined);
  const begun = performance.now();
  await expect(receive(store)).rejects.toMatchObject({ kind: "late" });
  expect(performance.now() - begun).toBeLessThan(3500);
  await store.close();
});
