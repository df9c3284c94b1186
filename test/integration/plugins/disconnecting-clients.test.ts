import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PluginServer } from "../../support/plugin-server.js";

let server: PluginServer;

beforeAll(async () => {
  server = await PluginServer.start();
});
afterAll(() => server.stop());

test("a client that disconnects while it sends a request body causes no plugin error", async () => {
  const failed: string[] = [];
  const read = async (request: Request, by: string) => {
    await request
      .clone()
      .text()
      .catch((error: unknown) => {
        failed.push(by);
        throw error;
      });
  };
  for (const by of ["hook", "handler"]) {
    server.use({
      onRequest: async (request) => (by === "hook" ? await read(request, by) : undefined),
      server: { fetch: async (request) => (await read(request, by), new Response("read")) },
    });
    const socket = connect(server.port, "127.0.0.1");
    socket.write("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nbegun");
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    await expect.poll(() => failed).toContain(by);
    await new Promise((resolve) => setImmediate(resolve));
    expect(server.complaints.filter(({ plugin }) => plugin !== "-")).toEqual([]);
  }
});
