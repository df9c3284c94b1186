import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import type { UpgradedConnection } from "../../src/server/web/upgraded-connection.js";
import { createHttpServer, type HttpServerOptions } from "../../src/server/http/server.js";

/** Starts an HTTP server that passes requests to the given function until the test ends. Returns its origin. */
export async function openHttpServer(
  respond: (request: IncomingMessage, response: ServerResponse, connection: UpgradedConnection | undefined) => void,
  options: Pick<HttpServerOptions, "headersTimeoutMs" | "stalledClientTimeoutMs"> = {},
): Promise<string> {
  const server = createHttpServer({
    apiBase: "/api",
    api: () => undefined,
    serve: ({ request, response, connection }) => respond(request, response, connection),
    ...options,
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
