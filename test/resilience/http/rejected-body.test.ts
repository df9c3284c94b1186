import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { discardLeftoverBody } from "../../../src/server/http/request-body.js";
import { openConnection } from "../../support/exchange.js";

const head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n";
/** Longer than the time for which a rejected client may continue sending. */
const outlastsPatienceMs = 2_300;

async function connectTo(answer: RequestListener) {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const connection = await openConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    connection.socket.destroy();
    server.close();
    server.closeAllConnections();
  });
  return connection;
}

test("the daemon keeps the connection when a client sends the whole rejected body", async () => {
  const { socket, nextAnswer } = await connectTo((request, response) => {
    discardLeftoverBody(request, response);
    request.once("end", () => response.writeHead(403, { "Content-Length": 2 }).end("no"));
  });
  socket.write(head);
  socket.write("body");
  expect(await nextAnswer()).toMatchObject({ status: 403 });

  await delay(outlastsPatienceMs);

  socket.write(`${head}body`);
  expect(await nextAnswer()).toMatchObject({ status: 403 });
});

test("the daemon adds no event listeners to a connection when it rejects bodies", async () => {
  let served: Socket | undefined;
  const { socket, nextAnswer } = await connectTo((request, response) => {
    served = request.socket;
    discardLeftoverBody(request, response);
    response.writeHead(403, { "Content-Length": 2 }).end("no");
  });
  const refuse = async (): Promise<void> => {
    socket.write(head);
    expect(await nextAnswer()).toMatchObject({ status: 403 });
    socket.write("body");
    await delay(20);
  };
  await refuse();
  const before = served!.listenerCount("close");

  for (let count = 0; count < 5; count++) await refuse();

  expect(served!.listenerCount("close")).toBe(before);
});

test("the daemon closes the connection when a client does not complete a rejected body", async () => {
  const { socket, nextAnswer, closed } = await connectTo((request, response) => {
    discardLeftoverBody(request, response);
    response.writeHead(403, { "Content-Length": 2 }).end("no");
  });
  socket.write(head);
  expect(await nextAnswer()).toMatchObject({ status: 403 });

  await delay(outlastsPatienceMs);

  expect(socket.closed).toBe(true);
  expect(await closed()).toBe("");
});
