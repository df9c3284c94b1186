import { expect, onTestFinished, test } from "vitest";
import { createHttpServer } from "../../../src/server/http/server.js";
import { openConnection } from "../../support/exchange.js";
import { openHttpServer } from "../../support/open-http-server.js";

const serve = () => undefined;

test("the daemon keeps idle connections open longer than the announced Keep-Alive time", async () => {
  const { keepAliveTimeout: keptMs } = createHttpServer({ apiBase: "/api", api: serve, serve });
  const url = await openHttpServer((_request, response) => response.end("done"));
  const { socket, nextAnswer } = await openConnection(url);
  onTestFinished(() => void socket.destroy());
  socket.write("GET /app/ HTTP/1.1\r\nHost: a\r\n\r\n");

  const told = (await nextAnswer()).headers["keep-alive"];
  expect(told).toBe("timeout=75");
  expect(keptMs - 75_000).toBeGreaterThan(500);
});
