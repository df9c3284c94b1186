import { once } from "node:events";
import net from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

/** Starts to listen. Rejects with Node's error code. */
async function listenOn(host: string, port = 0): Promise<net.Server> {
  const server = net.createServer((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nFAKE PANEL")).listen(port, host);
  await once(server, "listening");
  return server;
}

const portOf = (server: net.Server): number => (server.address() as net.AddressInfo).port;
const health = async (address: string): Promise<number> => (await fetch(`http://${address}/api/health`)).status;

describe("a program that tries to serve http://localhost instead of the daemon", () => {
  let daemon: TestDaemon | undefined;
  let server: net.Server | undefined;
  afterEach(async () => {
    await daemon?.dispose();
    server?.close();
    daemon = undefined;
    server = undefined;
  });

  it("cannot listen on ::1 while the daemon serves localhost", async () => {
    daemon = await startDaemon({ env: { HOST: "" } });
    const { port } = new URL(daemon.url);
    expect(daemon.url).toBe(`http://127.0.0.1:${port}`);
    expect(await health(`[::1]:${port}`)).toBe(200);
    await expect(listenOn("::1", Number(port))).rejects.toMatchObject({ code: "EADDRINUSE" });
    expect(await daemon.stop()).toBe(0);
    await expect(health(`[::1]:${port}`)).rejects.toThrow("fetch failed");
  });

  it("cannot listen on ::1 at the port of the admin listener", async () => {
    daemon = await startDaemon({ env: { HOST: "", RUNTIME_ADMIN_PORT: "0" } });
    const { port } = new URL(daemon.adminUrl);
    expect(port).not.toBe(new URL(daemon.url).port);
    expect(await health(`[::1]:${port}`)).toBe(200);
  });

  it("causes a log entry with a remedy when it listens on ::1 before the daemon starts", async () => {
    server = await listenOn("::1");
    const port = portOf(server);
    daemon = await startDaemon({ env: { HOST: "", PORT: String(port) } });
    expect(await health(`127.0.0.1:${port}`)).toBe(200);
    await expect.poll(() => daemon?.output()).toContain(`"address":"[::1]:${port}"`);
    expect(daemon.output()).toContain("another program listens at this address, and browsers can reach it as localhost");
  });

  it("can listen on ::1 when HOST is another address", async () => {
    daemon = await startDaemon({ env: { HOST: "127.0.0.1" } });
    server = await listenOn("::1", Number(new URL(daemon.url).port));
    expect(daemon.output()).not.toContain("another program listens");
  });
});
