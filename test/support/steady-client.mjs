// Sends steady requests to the worker at argv[2] from a separate process, so that a busy test does not look like a slow server. Replies
// to each message of the parent with the results since the last one: { timesMs, problems }.
import plainHttp from "node:http";
import https from "node:https";

/** Pause between requests. 200 requests per second are enough for a percentile of 1 s, and do not load the machine. */
const intervalMs = 5;
const connections = 4;

const url = process.argv[2];
const http = url.startsWith("https:") ? https : plainHttp;
const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
let asked = 0;
let timesMs = [];
let problems = [];

setInterval(ask, intervalMs);
process.on("message", () => {
  process.send({ timesMs, problems });
  timesMs = [];
  problems = [];
});
process.on("disconnect", () => process.exit());

/**
 * Measures from the time at which the request is due. The result thus contains the wait for a connection, because a stalled server delays
 * all connections.
 */
function ask() {
  const startedMs = performance.now();
  asked += 1;
  const expected = `${asked}:${"x".repeat(1000)}`;
  const end = (problem) => {
    timesMs.push(performance.now() - startedMs);
    if (problem !== undefined) problems.push(problem);
  };
  const request = http.get(`${url}?${asked}`, { agent }, (response) => {
    let text = "";
    response.setEncoding("latin1");
    response.on("data", (piece) => (text += piece));
    response.once("end", () => {
      if (response.statusCode !== 200) end(`status ${response.statusCode}: ${text.slice(0, 200)}`);
      else end(text === expected ? undefined : `wrong bytes: ${text.slice(0, 200)}`);
    });
  });
  request.once("error", (error) => end(error.message));
}
