import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** Starts a server in place of a daemon, until the test ends; returns its origin. */
export async function standIn(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  onTestFinished(() => server.close().closeAllConnections());
  await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A daemon's discovery document, with its API below that base. */
export const discovery = (api: string) =>
  JSON.stringify({ name: "runtimed", api, version: "1.0.0", cpanel: "/cpanel/", docs: "/api/docs" });
