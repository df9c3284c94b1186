import { describe, expect, it } from "vitest";
import { openConnection } from "../support/exchange.js";
import { openHttpServer } from "../support/open-http-server.js";

const limitMs = 1000;
/** How often the server looks, and what a busy machine may add. */
const longestMs = limitMs + 5_000 + 1_500;

describe("a client that sends the head of a request without an end", () => {
  it("is answered with 408 and cut off within 5 s of the limit, however often it sends a line", async () => {
    const url = await openHttpServer((_, response) => void response.end(), { headersTimeoutMs: limitMs });
    const { socket, nextAnswer, closed } = await openConnection(url);
    const startedMs = performance.now();
    socket.write("GET /app/ HTTP/1.1\r\nHost: a\r\n");
    const timer = setInterval(() => socket.write("X-A: b\r\n"), 200);
    try {
      const answer = await nextAnswer();
      expect([answer.status, JSON.parse(answer.text)]).toEqual([408, { error: expect.objectContaining({ code: "INVALID_REQUEST" }) }]);
      expect(performance.now() - startedMs).toBeLessThan(longestMs);
    } finally {
      clearInterval(timer);
    }
    expect(await closed()).toBe("");
  });
});
