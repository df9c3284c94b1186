import net from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../support/connect.js";
import { openBrowser } from "../support/open-browser.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

/** Each way in tries to receive connections or datagrams, and resolves with an address when it can. */
const waysIn: Readonly<Record<string, string>> = {
  "net.createServer().listen": `return await listening(net.createServer().listen(port));`,
  "http.createServer().listen": `return await listening(http.createServer().listen(port));`,
  "https.createServer().listen": `return await listening(https.createServer().listen(port));`,
  "http2.createServer().listen": `return await listening(http2.createServer().listen(port));`,
  "tls.createServer().listen": `return await listening(tls.createServer().listen(port));`,
  "listen of a Unix socket": `return await listening(net.createServer().listen("\\0abstract-" + port));`,
  "listen of a descriptor": `return await listening(net.createServer().listen({ fd: 3 }));`,
  "the former prototype": `return await listening(Object.getPrototypeOf(http.Server.prototype).listen.call(net.createServer(), port));`,
  "net.Server._listen2": `const server = net.createServer(); server._listen2("127.0.0.1", port, 4, 511); return await listening(server);`,
  "net._createServerHandle": `return net._createServerHandle("127.0.0.1", port, 4).listen(511);`,
  "the TCP handle of a socket": `const socket = new net.Socket().connect({ host: "127.0.0.1", port: 1 }).on("error", () => {});
    const handle = new socket._handle.constructor(1); socket.destroy(); return [handle.bind("127.0.0.1", port), handle.listen(511)];`,
  "the IPv6 TCP handle of a socket": `const socket = new net.Socket().connect({ host: "127.0.0.1", port: 1 }).on("error", () => {});
    const handle = new socket._handle.constructor(1); socket.destroy(); return [handle.bind6("::", port, 0), handle.listen(511)];`,
  "the pipe handle of a socket": `const socket = new net.Socket().connect({ path: "/nowhere" }).on("error", () => {});
    const handle = new socket._handle.constructor(1); socket.destroy(); return [handle.bind("\\0pipe-" + port), handle.listen(511)];`,
  "redefining listen": `Object.defineProperty(net.Server.prototype, "listen", { value: 1 });`,
  "dgram.createSocket().bind": `return await listening(dgram.createSocket("udp4").bind(port));`,
  "dgram.createSocket().send": `dgram.createSocket("udp4").send("x", port, "127.0.0.1");`,
  "the UDP handle of a socket": `const socket = dgram.createSocket("udp4");
    const state = Object.getOwnPropertySymbols(socket).map((name) => socket[name]).find((value) => value?.handle);
    return state.handle.bind("127.0.0.1", port, 0);`,
  "node:cluster": `cluster.setupPrimary(); return String(cluster.fork());`,
};

const attacker = `
import cluster from "node:cluster";
import dgram from "node:dgram";
import http from "node:http";
import http2 from "node:http2";
import https from "node:https";
import net from "node:net";
import tls from "node:tls";
const listening = (server) => new Promise((resolve, reject) => {
  server.once("listening", () => resolve(server.address()));
  server.once("error", reject);
});
const waysIn = { ${Object.entries(waysIn)
  .map(([name, code]) => `${JSON.stringify(name)}: async (port) => { ${code} }`)
  .join(",\n")} };
const seen = [];
try {
  http.createServer((request, response) => { seen.push(request.headers.cookie); response.end(); }).listen(PORT_OF_ATTACK, "127.0.0.1");
} catch {}
export default { async fetch(request) {
  const url = new URL(request.url);
  if (url.pathname === "/seen") return Response.json(seen);
  if (url.pathname === "/page") return new Response("<img src='http://127.0.0.1:PORT_OF_ATTACK/'>", { headers: { "content-type": "text/html" } });
  try {
    return Response.json(await waysIn[url.searchParams.get("wayIn")](Number(url.searchParams.get("port"))) ?? "done");
  } catch (error) {
    return new Response(error.message, { status: 403 });
  }
} };`;

/** A port that no process listens on now. */
async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("a worker that wants a port of its own", () => {
  let daemon: TestDaemon;

  beforeAll(async () => {
    daemon = await startDaemon({ env: { RUNTIME_WORKER_PERMISSIONS: "network,udp" } });
    const client = connect(daemon.url, daemon.rootKey);
    const source = attacker.replaceAll("PORT_OF_ATTACK", String(await freePort()));
    await uploadWorker(client, "attacker", { "index.js": source });
    await uploadWorker(client, "with-udp", { "index.js": source }, "permissions: [udp]");
  });
  afterAll(() => daemon.dispose());

  const attack = async (wayIn: string, name = "attacker"): Promise<string> => {
    const port = await freePort();
    const response = await fetch(`${daemon.url}/${name}/?${new URLSearchParams({ wayIn, port: String(port) }).toString()}`);
    return `${response.status} ${await response.text()}`;
  };

  it.each(Object.keys(waysIn).filter((name) => /net|http|tls|TCP|pipe|socket$|descriptor|former/.test(name) && !/dgram|UDP/.test(name)))(
    "is told to export a fetch handler by %s",
    async (wayIn) => {
      expect(await attack(wayIn)).toMatch(/^403 A worker cannot listen on a port or socket\. Export a fetch handler instead/);
    },
  );

  it.each(Object.keys(waysIn).filter((name) => /dgram|UDP/.test(name)))('is told of the permission "udp" by %s', async (wayIn) => {
    expect(await attack(wayIn)).toMatch(/^403 A worker cannot open a UDP socket, not even to send, without the permission "udp"/);
  });

  it("cannot put listen back", async () => {
    expect(await attack("redefining listen")).toBe("403 Cannot redefine property: listen");
  });

  it("cannot fork a cluster", async () => {
    expect(await attack("node:cluster")).toMatch(/^403 /);
  });

  it('sends and receives datagrams with the permission "udp", and still cannot listen', async () => {
    expect(await attack("dgram.createSocket().send", "with-udp")).toBe('200 "done"');
    expect(await attack("dgram.createSocket().bind", "with-udp")).toMatch(/^200 /);
    expect(await attack("http.createServer().listen", "with-udp")).toMatch(/^403 A worker cannot listen/);
  });

  it("does not receive the cookie of an operator who opens one of its pages", async () => {
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(`${daemon.url}/cpanel/`);
      await page.evaluate(
        (key) =>
          fetch("/api/admin/session", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ key }) }),
        daemon.rootKey,
      );
      expect((await page.context().cookies()).map(({ name }) => name)).toEqual(["runtime_api_key"]);
      await page.goto(`${daemon.url}/attacker/page`, { waitUntil: "networkidle" });
      expect(await (await fetch(`${daemon.url}/attacker/seen`)).json()).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
