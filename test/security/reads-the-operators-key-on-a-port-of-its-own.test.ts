import net from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../support/connect.js";
import { openBrowser } from "../support/open-browser.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

const openTcp = `const socket = new net.Socket().connect({ host: "127.0.0.1", port: 1 }).on("error", () => {}); const tcp = socket._handle; socket.destroy();`;
const openPipe = `const pipe = process.stdout._handle;`;

/** Each attempt listens on a port and resolves with its address. The isolate registers the server and opens no port. */
const portWays: Readonly<Record<string, string>> = {
  "net.createServer().listen": `return await listening(net.createServer().listen(port));`,
  "http.createServer().listen": `return await listening(http.createServer().listen(port));`,
  "https.createServer().listen": `return await listening(https.createServer().listen(port));`,
  "http2.createServer().listen": `return await listening(http2.createServer().listen(port));`,
  "tls.createServer().listen": `return await listening(tls.createServer().listen(port));`,
  "listen of the prototype's prototype": `return await listening(Object.getPrototypeOf(http.Server.prototype).listen.call(net.createServer(), port));`,
};
/** Each attempt tries to listen elsewhere. If it can, it resolves with an address. */
const listenWays: Readonly<Record<string, string>> = {
  "listen of a Unix socket": `return await listening(net.createServer().listen("\\0abstract-" + port));`,
  "listen of a descriptor": `return await listening(net.createServer().listen({ fd: 3 }));`,
};
/** The same attempts with functions below node:net, which return errors as numbers. */
const handleWays: Readonly<Record<string, string>> = {
  "net.Server._listen2": `const server = net.createServer(); server._listen2("127.0.0.1", port, 4, 511); return await listening(server);`,
  "net._createServerHandle": `const handle = net._createServerHandle("127.0.0.1", port, 4); return handle.listen ? handle.listen(511) : handle;`,
  "bind of a TCP handle": `${openTcp} return new tcp.constructor(1).bind("127.0.0.1", port);`,
  "bind6 of a TCP handle": `${openTcp} return new tcp.constructor(1).bind6("::", port, 0);`,
  "listen of a TCP handle": `${openTcp} return new tcp.constructor(1).listen(511);`,
  "bind of a pipe handle": `${openPipe} return new pipe.constructor(1).bind("\\0pipe-" + port);`,
  "listen of a pipe handle": `${openPipe} return new pipe.constructor(1).listen(511);`,
};
const udpWays: Readonly<Record<string, string>> = {
  "dgram.createSocket().bind": `return await listening(dgram.createSocket("udp4").bind(port));`,
  "dgram.createSocket().send": `dgram.createSocket("udp4").send("x", port, "127.0.0.1");`,
};
const stateOf = `const socket = dgram.createSocket("udp4").on("error", () => {});
  const state = Object.getOwnPropertySymbols(socket).map((name) => socket[name]).find((value) => value?.handle);`;
const udpHandleWays: Readonly<Record<string, string>> = {
  "bind of a UDP handle": `${stateOf} return state.handle.bind("127.0.0.1", port, 0);`,
  "recvStart of a UDP handle": `${stateOf} return state.handle.recvStart();`,
  "connect of a UDP handle": `${stateOf} return state.handle.connect("127.0.0.1", port);`,
  "a UDP socket with a forged bound state": `${stateOf} state.bindState = 2;
    return await new Promise((resolve) => socket.send("x", port, "127.0.0.1", (error) => resolve(error?.errno ?? "sent")));`,
};
const others: Readonly<Record<string, string>> = {
  "node:cluster": `cluster.setupPrimary(); return String(cluster.fork());`,
  localAddress: `return await new Promise((resolve) => net.connect({ host: "127.0.0.1", port, localAddress: "127.0.0.1" }).on("error", ({ code }) => resolve(code)));`,
  pid: `return process.pid;`,
};
const ways = { ...portWays, ...listenWays, ...handleWays, ...udpWays, ...udpHandleWays, ...others };

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
const waysIn = { ${Object.entries(ways)
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

/** Returns an unused port. */
async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Returns "connected" or the code of the error. */
function connectTo(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect({ host, port }, () => {
      socket.destroy();
      resolve("connected");
    });
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

describe("a worker that tries to open a socket", () => {
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

  it.each(Object.keys(portWays))("opens no port with the call %s", async (wayIn) => {
    const port = await freePort();
    const parameters = new URLSearchParams({ wayIn, port: String(port) });
    const response = await fetch(`${daemon.url}/attacker/?${parameters.toString()}`);
    expect(await response.json()).toEqual({ address: "::", family: "IPv6", port });
    for (const host of ["127.0.0.1", "::1"]) expect(await connectTo(host, port)).toBe("ECONNREFUSED");
  });

  it.each(Object.keys(listenWays))("cannot listen without a port number (attempt: %s)", async (wayIn) => {
    expect(await attack(wayIn)).toMatch(/^403 A worker cannot listen on a socket path, descriptor or handle\. Listen on a port number/);
  });

  it.each(Object.keys(handleWays))("cannot listen through internal functions of Node.js (attempt: %s)", async (wayIn) => {
    expect(await attack(wayIn)).toMatch(/^(?:200 -13$|403 (?:A worker cannot listen|listen EACCES|bind EACCES))/);
  });

  it.each(Object.keys(udpWays))("gets an error with a hint to request the permission `udp` (call: %s)", async (wayIn) => {
    expect(await attack(wayIn)).toMatch(/^403 A worker cannot open a UDP socket, not even to send, without the permission "udp"/);
  });

  it.each(Object.keys(udpHandleWays))("cannot open a UDP socket through internal functions of Node.js (attempt: %s)", async (wayIn) => {
    expect(await attack(wayIn)).toBe("200 -13");
  });

  it("gets EACCES for a connection with a localAddress, and continues", async () => {
    const before = await attack("pid");
    expect(await attack("localAddress")).toBe('200 "EACCES"');
    expect(await attack("pid")).toBe(before);
  });

  it("gets an error for cluster.fork() with a hint to set instances in the manifest", async () => {
    expect(await attack("node:cluster")).toMatch(/^403 A worker cannot start other processes, .* Set `instances` in the manifest/);
  });

  it("can exchange datagrams with the permission `udp`, but cannot listen", async () => {
    expect(await attack("dgram.createSocket().send", "with-udp")).toBe('200 "done"');
    expect(await attack("dgram.createSocket().bind", "with-udp")).toMatch(/^200 /);
    expect(await attack("listen of a Unix socket", "with-udp")).toMatch(/^403 A worker cannot listen/);
  });

  it("does not receive the session cookie of an operator who opens its page", async () => {
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
