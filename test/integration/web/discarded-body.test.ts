import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { burstBytes, pauseMs } from "../../../src/server/web/request-body.js";
import { openConnection } from "../../support/exchange.js";
import { openHttpServer } from "../../support/open-http-server.js";

const head = (lines: string) => `POST /app/ HTTP/1.1\r\nHost: a\r\n${lines}\r\n\r\n`;
/** Size of one read of Node. */
const readBytes = 64 * 1024;

/** Sends an endless body for `forMs`, as fast as the server reads it. */
async function pour(socket: Socket, forMs: number): Promise<void> {
  const piece = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs) {
    if (!socket.write(piece)) await Promise.race([once(socket, "drain"), delay(50)]);
  }
}

test("the daemon reads an endless body at a limited rate if the handler ignores it", async () => {
  let taken: Socket | undefined;
  const url = await openHttpServer((request, response) => {
    taken = request.socket;
    response.end("early");
  });
  const { socket, nextAnswer } = await openConnection(url);
  onTestFinished(() => void socket.destroy());
  const beganMs = performance.now();
  socket.write(head("Transfer-Encoding: chunked"));
  expect(await nextAnswer()).toMatchObject({ status: 200, text: "early" });

  await pour(socket, 500);

  const bursts = (performance.now() - beganMs) / pauseMs + 1;
  expect(taken!.bytesRead).toBeGreaterThan(2 * burstBytes);
  expect(taken!.bytesRead).toBeLessThan(bursts * (burstBytes + readBytes));
});

test("a request is served after a request whose body the handler ignored", async () => {
  const asked: string[] = [];
  const url = await openHttpServer((request, response) => {
    asked.push(request.method!);
    response.end("early");
  });
  const { socket, nextAnswer } = await openConnection(url);
  onTestFinished(() => void socket.destroy());
  const length = 5 * burstBytes;
  socket.write(head(`Content-Length: ${length}`));
  expect(await nextAnswer()).toMatchObject({ status: 200, text: "early" });

  socket.write(Buffer.alloc(length, "x"));
  socket.write("GET /app/ HTTP/1.1\r\nHost: a\r\n\r\n");

  expect(await nextAnswer()).toMatchObject({ status: 200, text: "early" });
  expect(asked).toEqual(["POST", "GET"]);
});
