import { describe, expect, it } from "vitest";
import { openConnection } from "../support/exchange.js";
import { openHttpServer } from "../support/open-http-server.js";

const limitMs = 1000;
/** Interval at which the server checks connections, with a margin for a busy machine. */
const longestMs = limitMs + 5_000 + 1_500;

describe("a client that sends endless request headers", () => {
  it("receives a 408 response and is disconnected after the header timeout", async () => {
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
