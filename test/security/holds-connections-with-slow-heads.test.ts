import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openConnection } from "../support/exchange.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

/** The limit, and how often the daemon looks. */
const longestMs = 20_000 + 5_000;
const machineMs = 1_500;

describe("a client that sends the head of a request without an end", () => {
  let daemon: TestDaemon;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => daemon.dispose());

  it("is answered with 408 and cut off within 25 s, however often it sends a byte", { timeout: 40_000 }, async () => {
    const { socket, nextAnswer, closed } = await openConnection(daemon.url);
    const startedMs = performance.now();
    socket.write("GET /app/ HTTP/1.1\r\nHost: a\r\n");
    const timer = setInterval(() => socket.write("X-A: b\r\n"), 1000);
    try {
      const answer = await nextAnswer();
      expect([answer.status, JSON.parse(answer.text)]).toEqual([408, { error: expect.objectContaining({ code: "INVALID_REQUEST" }) }]);
      expect(performance.now() - startedMs).toBeLessThan(longestMs + machineMs);
    } finally {
      clearInterval(timer);
    }
    expect(await closed()).toBe("");
  });
});
