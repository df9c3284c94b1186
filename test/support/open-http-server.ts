import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { createHttpServer, type HttpServerOptions } from "../../src/server/http/server.js";

/** Starts an HTTP server that passes requests to the given function until the test ends. Returns its origin. */
export async function openHttpServer(
  serve: HttpServerOptions["serve"],
  options: Pick<HttpServerOptions, "headersTimeoutMs" | "stalledClientTimeoutMs"> = {},
): Promise<string> {
  const server = createHttpServer({ apiBase: "/api", api: () => undefined, serve, ...options });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
