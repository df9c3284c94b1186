// Sends steady requests to one worker, in its own process for exact timing. PLAN (JSON): { url, method, bodyBytes, connections, pauseMs,
// mayFail }. Reports every second: { requests, failures, problem, p99Ms }.
import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { p99 } from "./rounds.mjs";

const { url, method, bodyBytes, connections, pauseMs, mayFail } = JSON.parse(process.argv[2]);
const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
const body = Buffer.alloc(bodyBytes, "x");
let timesMs = [];
let failures = [];

for (let connection = 0; connection < connections; connection += 1) void keepAsking();
setInterval(report, 1_000);
process.on("SIGTERM", () => process.exit());
process.on("disconnect", () => process.exit());

async function keepAsking() {
  for (;;) {
    const startedAtMs = performance.now();
    const problem = await ask();
    timesMs.push(performance.now() - startedAtMs);
    if (problem !== undefined && !mayFail) failures.push(problem);
    await delay(pauseMs);
  }
}

/** Returns the problem with a response. Undefined for a complete and successful response. */
function ask() {
  return new Promise((resolve) => {
    const request = http.request(url, { method, agent, headers: { "content-length": bodyBytes } }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode === 200 ? undefined : `status ${response.statusCode}`));
      response.once("error", (error) => resolve(error.message));
    });
    request.once("error", (error) => resolve(error.message));
    request.setTimeout(30_000, () => request.destroy(new Error("no answer within 30 s")));
    request.end(body);
  });
}

function report() {
  process.send({ requests: timesMs.length, failures: failures.length, problem: failures[0], p99Ms: p99(timesMs) ?? 0 });
  timesMs = [];
  failures = [];
}
