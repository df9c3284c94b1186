import { expect, test } from "vitest";
import { openConnection } from "../../support/exchange.js";
import { openHttpServer } from "../../support/open-http-server.js";

const get = "GET /app/ HTTP/1.1\r\nHost: a\r\n\r\n";

test("the daemon cancels a request when the client closes its half of the connection", async () => {
  let isGivenUp = false;
  const url = await openHttpServer((_request, response) => response.once("close", () => (isGivenUp = true)));
  const { socket, closed } = await openConnection(url);
  socket.end(get);

  expect(await closed()).toBe("");
  await expect.poll(() => isGivenUp).toBe(true);
});

test("the daemon closes an idle connection when the client closes its half", async () => {
  const url = await openHttpServer((_request, response) => response.end("done"));
  const { socket, nextAnswer, closed } = await openConnection(url);
  socket.write(get);
  expect((await nextAnswer()).status).toBe(200);
  socket.end();

  expect(await closed()).toBe("");
});

test("the daemon responds to a request even if the next request is invalid", async () => {
  const url = await openHttpServer((_request, response) => setTimeout(() => response.end("done"), 100));
  const { socket, nextAnswer, closed } = await openConnection(url);
  socket.end(`${get}G`);

  expect((await nextAnswer()).status).toBe(200);
  expect(await closed()).toBe("");
});
