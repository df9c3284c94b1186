import { once } from "node:events";
import { readFile, readdir, stat } from "node:fs/promises";
import { connect as connectHttp2 } from "node:http2";
import { request as requestTls } from "node:https";
import path from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { Agent, request, setGlobalDispatcher, type Dispatcher } from "undici";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { connect, uploadOf } from "../support/connect.js";
import { CountingLoad } from "../support/counting-load.js";
import { openListeningSocket } from "../support/listening-socket.js";
import { manifestOf, packFiles } from "../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { temporaryDirectory } from "../support/temporary-directory.js";
import { WebSocketClient } from "../support/web-socket-client.js";
import { startCaddy, startNginx } from "./start-proxy.js";

const certificate = new URL("../fixtures/tls/certificate.pem", import.meta.url);
const mebibyte = 1024 * 1024;

const source = `
let go;
const told = new Promise((resolve) => (go = resolve));
const encoder = new TextEncoder();
export default {
  fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/go") return new Response(String(go()));
    if (pathname === "/slow")
      return new Response(new ReadableStream({
        async start(controller) {
          controller.enqueue(encoder.encode("first"));
          await told;
          controller.enqueue(encoder.encode("second"));
          controller.close();
        },
      }));
    if (request.headers.get("upgrade") === "websocket") {
      const { 0: client, 1: server } = new WebSocketPair();
      server.accept();
      server.addEventListener("message", ({ data }) => server.send("you said " + data));
      return new Response(null, { status: 101, webSocket: client });
    }
    return Response.json({ url: request.url, ...Object.fromEntries(request.headers) });
  },
};`;

let ca: Buffer;

beforeAll(async () => {
  ca = await readFile(certificate);
  const dispatcher: Dispatcher = new Agent({ connect: { ca } });
  setGlobalDispatcher(dispatcher);
});

async function install(daemon: TestDaemon, files: Record<string, string | Uint8Array> = { "index.js": source }): Promise<void> {
  const archive = await packFiles({ "manifest.yaml": manifestOf("app", "1.0.0"), ...files });
  await connect(daemon.url, daemon.rootKey).workers.upload({ file: uploadOf("app.tgz", archive) });
}

describe.each([
  ["nginx", startNginx],
  ["Caddy", startCaddy],
])("the daemon behind the proxy %s", (_name, startProxy) => {
  async function start(env: Record<string, string> = {}) {
    const daemon = await startDaemon({ env });
    onTestFinished(daemon.dispose);
    const url = await startProxy([Number(new URL(daemon.url).port)]);
    return { daemon, url, client: connect(url, daemon.rootKey) };
  }

  test("passes the client's real address and scheme to a worker despite forged headers", async () => {
    const { daemon, url } = await start();
    await install(daemon);
    const claims = { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "http", "x-forwarded-host": "elsewhere.example" };

    const { body } = await request(`${url}/app/a%2Fb//c?d=%20`, { headers: claims });

    const { host } = new URL(url);
    expect(await body.json()).toMatchObject({
      url: `https://${host}/a%2Fb//c?d=%20`,
      host,
      "x-base": "/app",
      "x-forwarded-for": "127.0.0.1, 127.0.0.1",
      "x-forwarded-proto": "https",
      "x-forwarded-host": host,
    });
  });

  test("serves a browser over HTTP/2", async () => {
    const { daemon, url } = await start();
    await install(daemon);
    const session = connectHttp2(url, { ca });
    onTestFinished(() => session.close());

    const answer = session.request({ ":path": "/app/" });

    expect(JSON.parse(await text(answer))).toMatchObject({ host: new URL(url).host, "x-forwarded-proto": "https" });
  });

  test("does not expose the certificate check /api/hosts/ask to the proxy's clients", async () => {
    const { url } = await start();

    for (const target of ["/api/hosts/ask", "/api/hosts/ask?domain=shop.test", "/api//hosts/%61sk"]) {
      const { statusCode, headers, body } = await request(url + target);
      await body.dump();
      expect([statusCode, headers["x-request-id"]], target).toEqual([404, undefined]);
    }
    expect((await request(`${url}/api/hosts/asking.test`)).headers["x-request-id"]).toBeDefined();
  });

  test("rejects a sign-in from another origin, and sets Secure on the session cookie", async () => {
    const { daemon, url } = await start();
    const signIn = (origin: string) =>
      request(`${url}/api/admin/session`, {
        method: "POST",
        headers: { origin, "content-type": "application/json" },
        body: JSON.stringify({ key: daemon.rootKey }),
      });

    const own = await signIn(url);
    const foreign = await signIn("https://elsewhere.example");

    expect(own.statusCode).toBe(200);
    expect(String(own.headers["set-cookie"])).toMatch(/^runtime_api_key=.*; Secure/);
    expect(foreign.statusCode).toBe(403);
    expect(foreign.headers["set-cookie"]).toBeUndefined();
  });

  test("installs an upload that the proxy forwards without buffering it", async () => {
    const { daemon, url } = await start();
    const archive = await packFiles({
      "manifest.yaml": manifestOf("app", "1.0.0"),
      "index.js": source,
      "noise.bin": crypto.getRandomValues(new Uint8Array(65_536)),
      ...Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`${index}.bin`, crypto.getRandomValues(new Uint8Array(65_536))])),
    });
    const boundary = "the-boundary";
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="app.tgz"\r\n\r\n`;
    const upload = requestTls(`${url}/api/workers/upload`, {
      method: "POST",
      ca,
      headers: { "x-api-key": daemon.rootKey, origin: url, "content-type": `multipart/form-data; boundary=${boundary}` },
    });
    const half = archive.length / 2;
    upload.write(head);
    upload.write(archive.subarray(0, half));

    await expect.poll(() => spooledBytes(daemon)).toBeGreaterThan(half - mebibyte);

    upload.end(Buffer.concat([archive.subarray(half), Buffer.from(`\r\n--${boundary}--\r\n`)]));
    const [answer] = (await once(upload, "response")) as [Readable & { statusCode: number }];
    expect({ status: answer.statusCode, text: await text(answer) }).toMatchObject({ status: 201 });
    expect((await request(`${url}/app/`)).statusCode).toBe(200);
  });

  test("rejects an upload above the size limit with PAYLOAD_TOO_LARGE", async () => {
    const { daemon, client } = await start({ RUNTIME_MAX_UPLOAD_SIZE: "2mb" });
    const noise = Array.from({ length: 3 * 16 }, (_, index) => [`${index}.bin`, crypto.getRandomValues(new Uint8Array(65_536))]);
    const archive = await packFiles({ "manifest.yaml": manifestOf("app", "1.0.0"), ...Object.fromEntries(noise) });

    await expect(client.workers.upload({ file: uploadOf("app.tgz", archive) })).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });

    expect(await connect(daemon.url, daemon.rootKey).workers.list()).not.toContainEqual(expect.objectContaining({ name: "app" }));
  });

  test("sends each chunk of a worker's response immediately", async () => {
    const { daemon, url } = await start();
    await install(daemon);
    const { body } = await request(`${url}/app/slow`);
    const pieces: AsyncIterator<Buffer> = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>;

    const first = await pieces.next();
    await (await request(`${url}/app/go`)).body.dump();
    const second = await pieces.next();

    expect([first, second].map(({ value }) => String(value))).toEqual(["first", "second"]);
  });

  test("sends each event immediately", async () => {
    const { daemon, url } = await start();
    const { body } = await request(`${url}/api/events?type=worker`, { headers: { "x-api-key": daemon.rootKey } });
    let heard = "";
    body.on("data", (piece: Buffer) => (heard += piece.toString())).on("error", () => undefined);
    onTestFinished(() => void body.destroy());
    await expect.poll(() => heard).toContain("stream.opened");

    await install(daemon);

    await expect.poll(() => heard).toContain("worker.installed");
  });

  test("closes a WebSocket with the code 1001 when the daemon stops", async () => {
    const { daemon, url } = await start();
    await install(daemon);
    const client = await WebSocketClient.open(`${url}/app/`, [], { ca });

    client.webSocket.send("hello");
    expect(await client.next()).toBe("you said hello");
    void daemon.stop();

    expect(await client.closed).toMatchObject({ code: 1001 });
  });

  test("serves every request while the daemon restarts and its socket stays open", { timeout: 120_000 }, async () => {
    const directory = await temporaryDirectory();
    const socket = openListeningSocket();
    onTestFinished(socket.close);
    let daemon = await startDaemon({ directory, listenFds: [socket.fd] });
    onTestFinished(() => daemon.kill());
    await install(daemon);
    const url = await startProxy([socket.port]);
    const load = new CountingLoad(`${url}/app/go`, { ca });
    const served = () => load.answers.get("200 undefined") ?? 0;

    for (let restart = 0; restart < 5; restart += 1) {
      const before = served();
      await expect.poll(served).toBeGreaterThan(before + 20);
      expect(await daemon.stop()).toBe(0);
      daemon = await startDaemon({ directory, listenFds: [socket.fd] });
    }
    await load.stop();

    expect([...load.answers.keys()]).toEqual(["200 undefined"]);
  });
});

async function spooledBytes({ directory }: TestDaemon): Promise<number> {
  const folder = path.join(directory, "state/spool");
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name)).catch(() => ({ size: 0 }))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
