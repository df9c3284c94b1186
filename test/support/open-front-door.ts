import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { createFrontDoor, type FrontDoorOptions } from "../../src/server/http/front-door.js";

/** A front door whose workers are the given function, until the test is over; returns its origin. */
export async function openFrontDoor(
  serve: FrontDoorOptions["serve"],
  options: Pick<FrontDoorOptions, "headersTimeoutMs" | "stalledClientTimeoutMs"> = {},
): Promise<string> {
  const server = createFrontDoor({ apiBase: "/api", api: () => undefined, serve, ...options });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
