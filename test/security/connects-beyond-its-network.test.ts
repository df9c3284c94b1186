import { once } from "node:events";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { connect } from "../support/connect.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

/** Connects in several ways after it replaced functions that the check could use. */
const attacker = `
import net from "node:net";
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
const connect = (options) => new Promise((resolve) => {
  try {
    const socket = net.connect({ ...options, timeout: 2000 });
    socket.on("connect", () => { socket.destroy(); resolve("connected"); });
    socket.on("error", (error) => resolve(error.code));
    socket.on("timeout", () => { socket.destroy(); resolve("timeout"); });
  } catch (error) { resolve(error.code ?? error.message); }
});
const tricks = {
  plain: () => {},
  String: () => { globalThis.String = () => "1.1.1.1"; },
  iterator: () => { Array.prototype[Symbol.iterator] = function* () { yield {}; yield "1.1.1.1"; yield 80; }; },
  isIP: () => { net.isIP = () => 0; syncBuiltinESMExports(); },
  check: () => { net.BlockList.prototype.check = () => false; },
  SocketAddress: () => {
    const open = new net.SocketAddress({ address: "1.1.1.1" });
    for (const symbol of Object.getOwnPropertySymbols(open)) String.prototype[symbol] = open[symbol];
    net.SocketAddress.isSocketAddress = () => true;
  },
  charCodeAt: () => { String.prototype.charCodeAt = () => 49; Array.prototype.map = Array.prototype.split = () => []; },
  apply: () => { Reflect.apply = (method, target, values) => method.call(target, ...values); Function.prototype.call = () => false; },
  prototype: () => { Object.prototype["127.0.0.1 80"] = true; Object.prototype[process.argv[2]] = true; },
};
export default { async fetch(request) {
  const query = new URL(request.url).searchParams;
  const port = Number(query.get("port"));
  const host = query.get("host");
  const way = query.get("way");
  tricks[query.get("trick") ?? "plain"]();
  if (way === "unix") return new Response(await connect({ path: query.get("path") }));
  if (way === "lookup") return new Response(await connect({ host: "example.org", port, lookup: (name, options, done) => options.all ? done(null, [{ address: host, family: 4 }]) : done(null, host, 4) }));
  if (way === "handle") {
    const socket = new net.Socket();
    const probe = net.connect({ host: "203.0.113.1", port: 1 });
    const Handle = probe._handle.constructor;
    probe.on("error", () => {}).destroy();
    let reads = 0;
    const address = { toString: () => (reads += 1) === 1 ? "1.1.1.1" : host };
    try { return new Response(String(new Handle(0).connect({}, address, port))); } catch (error) { return new Response(error.message); }
  }
  if (way === "dns") { try { dns.setServers([host]); return new Response("set"); } catch (error) { return new Response(error.code); } }
  return new Response(await connect({ host, port }));
} };`;

/** Time limit of a response. An app that broke itself does not respond. */
const longestWaitMs = 5000;

let daemon: TestDaemon;
let server: Server;
let folder: string;
let unixServer: Server;
let connections = 0;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "network-"));
  await chmod(folder, 0o711);
  server = createServer((socket) => {
    connections += 1;
    socket.on("error", () => undefined).end();
  }).listen(0, "127.0.0.1");
  unixServer = createServer((socket) => {
    connections += 1;
    socket.on("error", () => undefined).end();
  }).listen(path.join(folder, "socket"));
  await Promise.all([once(server, "listening"), once(unixServer, "listening")]);
  await chmod(path.join(folder, "socket"), 0o777);
});
afterEach(() => daemon.dispose());
afterAll(async () => {
  server.close();
  unixServer.close();
  await rm(folder, { recursive: true, force: true });
});

const port = (): number => (server.address() as AddressInfo).port;

async function start(env: Record<string, string>, manifest = ""): Promise<void> {
  daemon = await startDaemon({ directoryMode: 0o711, env: { RUNTIME_WORKER_NETWORK_ALLOW: "", ...env } });
  await uploadWorker(
    connect(daemon.url, daemon.rootKey),
    "attacker",
    { "index.js": attacker, "package.json": '{"type":"module"}' },
    manifest,
  );
}

async function ask(query: Record<string, string | number>): Promise<string> {
  connections = 0;
  const parameters = new URLSearchParams({ host: "127.0.0.1", port: String(port()) });
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
  return await (await fetch(`${daemon.url}/attacker/?${parameters.toString()}`, { signal: AbortSignal.timeout(longestWaitMs) })).text();
}

describe("a worker with the default network settings", () => {
  test("cannot connect to private addresses, and the log names the variable to change", async () => {
    await start({});
    for (const host of [
      "127.0.0.1",
      "localhost",
      "10.0.0.1",
      "192.168.1.1",
      "169.254.169.254",
      "100.100.100.200",
      "::ffff:127.0.0.1",
      "::1",
      "fd00::1",
      "0.0.0.0",
    ])
      expect(await ask({ host }), host).toBe("EACCES");
    expect(connections).toBe(0);
    expect(daemon.output()).toContain(`NETWORK_DENIED: the worker is not allowed to connect to 127.0.0.1:${port()}.`);
    expect(daemon.output()).toContain("RUNTIME_WORKER_NETWORK_ALLOW");
  });

  test.each(["String", "iterator", "isIP", "check", "SocketAddress", "charCodeAt", "apply", "prototype"])(
    "cannot connect to a local address when it replaces the built-in %s",
    async (trick) => {
      await start({});
      // The response does not matter: the trick can also crash the app.
      await ask({ trick }).catch(() => undefined);
      expect(connections).toBe(0);
    },
  );

  test.each(["lookup", "handle", "dns"])("cannot bypass the address check (technique: custom %s)", async (way) => {
    await start({});
    expect(await ask({ way })).not.toMatch(/^(?:connected|0|set)$/);
    expect(connections).toBe(0);
  });

  test("cannot connect to a Unix socket", async () => {
    await start({});
    expect(await ask({ way: "unix", path: path.join(folder, "socket") })).toBe("EACCES");
    expect(connections).toBe(0);
  });
});

test("a worker can connect only to host names that both manifest and operator allow", async () => {
  await start(
    { RUNTIME_WORKER_NETWORK_ALLOW: `localhost:${port()},unix:${folder}/socket` },
    `network:\n  allow: ["localhost:${port()}", "unix:${folder}/socket"]\n`,
  );
  expect(await ask({})).toBe("EACCES");
  expect(await ask({ host: "localhost" })).toBe("connected");
  expect(await ask({ host: "localhost", port: 1 })).toBe("EACCES");
  expect(await ask({ way: "unix", path: path.join(folder, "socket") })).toBe("connected");
  expect(await ask({ way: "unix", path: `${folder}/other` })).toBe("EACCES");
});

test("an upload is rejected when it requests a host outside of the operator's list", async () => {
  await expect(start({}, `network:\n  allow: ["127.0.0.1:${port()}"]\n`)).rejects.toThrow("RUNTIME_WORKER_NETWORK_ALLOW");
  expect((await fetch(`${daemon.url}/attacker/`)).status).toBe(404);
});

test("a worker with the network mode `none` cannot connect", async () => {
  await start({ RUNTIME_WORKER_NETWORK: "all" }, "network:\n  mode: none\n");
  expect(await ask({})).toBe("EACCES");
  expect(connections).toBe(0);
});

test("a worker can connect to local addresses with RUNTIME_WORKER_NETWORK=all", async () => {
  await start({ RUNTIME_WORKER_NETWORK: "all" });
  expect(await ask({})).toBe("connected");
});
