import { afterAll, beforeAll, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

let server: WorkerServer;
let neighborPid: string;
beforeAll(async () => {
  server = await WorkerServer.start();
  await server.add("neighbor", { fixture: "faults" });
  neighborPid = await server.text("/neighbor/pid");
});
afterAll(() => server.stop());

test.each([
  "unknown-kind",
  "unknown-call-kind",
  "daemon-kind",
  "foreign-call",
  "long-frame",
  "short-answer",
  "head-beyond-end",
  "status-0",
  "status-101",
  "status-999",
  "header-crlf",
  "header-space",
  "header-odd",
  "header-empty-name",
  "length-nan",
  "length-huge",
  "length-negative",
  "chunk-first",
  "chunk-beyond-credit",
  "chunk-empty",
  "credit-of-nothing",
  "pong-unasked",
  "head-twice",
  "answer-after-head",
  "load-failure",
  "load-failure-broken",
  "background-flood",
  "uncaught-error-flood",
  "stop-flood",
  "socket-unasked",
  "socket-short",
  "socket-unknown",
  "socket-close-unknown",
  "socket-twice",
])("a worker that sends the invalid frame %s does not affect other workers", async (attack) => {
  await server.add(`hostile-${attack}`, { fixture: "hostile-frames", manifest: { timeout: "3s" } });
  const outcome = await server.fetch(`/hostile-${attack}/${attack}`).then(
    async (response) => [response.status, await response.text().catch(() => "cut")],
    () => "cut",
  );
  if (outcome !== "cut" && outcome[1] !== "cut") {
    expect([502, 504]).toContain(outcome[0]);
    expect(outcome[1]).toMatch(/"code":"WORKER_(CRASHED|BAD_RESPONSE|TIMEOUT)"/);
  }
  expect(await server.text("/neighbor/ok")).toBe("ok");
  expect(await server.text("/neighbor/pid")).toBe(neighborPid);
  await expect.poll(() => server.text(`/hostile-${attack}/`)).toBe("ok");
});
