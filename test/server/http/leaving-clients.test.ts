import { expect, test } from "vitest";
import { openConnection } from "../../support/exchange.js";
import { openFrontDoor } from "../../support/open-front-door.js";

const get = "GET /app/ HTTP/1.1\r\nHost: a\r\n\r\n";

/** Numbers of requests that were given up in the same turn of the event loop, as they come. */
class EndsPerTurn {
  readonly counts: number[] = [];
  #isCounting = false;

  add(): void {
    if (!this.#isCounting) {
      this.#isCounting = true;
      this.counts.push(0);
      setImmediate(() => (this.#isCounting = false));
    }
    this.counts[this.counts.length - 1] = (this.counts.at(-1) as number) + 1;
  }

  get total(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }
}

test("of clients that leave together in the midst of their requests some are seen off in each turn of the event loop", async () => {
  const ends = new EndsPerTurn();
  let waiting = 0;
  const url = await openFrontDoor((_request, response) => {
    waiting += 1;
    response.once("close", () => ends.add());
  });
  const clients = await Promise.all(Array.from({ length: 300 }, () => openConnection(url)));
  for (const { socket } of clients) socket.write(get);
  await expect.poll(() => waiting).toBe(300);

  for (const { socket } of clients) socket.destroy();

  await expect.poll(() => ends.total).toBe(300);
  // One turn may see what two have ended.
  expect(Math.max(...ends.counts)).toBeLessThanOrEqual(32);
});

test("a client that says it has nothing more to say gets no answer that is not ready, and its request is given up", async () => {
  let isGivenUp = false;
  const url = await openFrontDoor((_request, response) => response.once("close", () => (isGivenUp = true)));
  const { socket, closed } = await openConnection(url);
  socket.end(get);

  expect(await closed()).toBe("");
  await expect.poll(() => isGivenUp).toBe(true);
});

test("a client that leaves between two requests is let go", async () => {
  const url = await openFrontDoor((_request, response) => response.end("done"));
  const { socket, nextAnswer, closed } = await openConnection(url);
  socket.write(get);
  expect((await nextAnswer()).status).toBe(200);
  socket.end();

  expect(await closed()).toBe("");
});

test("a client that leaves behind a broken request still gets the answer to the one before", async () => {
  const url = await openFrontDoor((_request, response) => setTimeout(() => response.end("done"), 100));
  const { socket, nextAnswer, closed } = await openConnection(url);
  socket.end(`${get}G`);

  expect((await nextAnswer()).status).toBe(200);
  expect(await closed()).toBe("");
});
