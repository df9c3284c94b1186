import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** Starts a server that replaces a daemon until the test ends. Returns the origin of the server. */
export async function standIn(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  onTestFinished(() => server.close().closeAllConnections());
  await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns the discovery document of a daemon whose API has the path `base`. */
export const discovery = (api: string) =>
  JSON.stringify({ name: "runtimed", api, version: "1.0.0", cpanel: "/cpanel/", docs: "/api/docs" });
