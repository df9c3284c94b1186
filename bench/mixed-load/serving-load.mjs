// Sends requests at a steady rate, in its own process for exact timing. PLAN (JSON): { ratePerSecond, targets: [{ title, url, method,
// bodyBytes, statuses }] }. Reports every second. Latency counts from the due time of a request.
import http from "node:http";

const { ratePerSecond, targets } = JSON.parse(process.argv[2]);
const tickMs = 10;
const answerTimeoutMs = 30_000;
const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
const startedAtMs = performance.now();
let asked = 0;
let timesMs = [];
let outcomes = {};

setInterval(() => {
  for (const due = ((performance.now() - startedAtMs) / 1000) * ratePerSecond; asked < due; asked += 1)
    ask(targets[asked % targets.length]);
}, tickMs);
setInterval(report, 1_000);
process.on("disconnect", () => process.exit());

function ask({ title, url, method, bodyBytes, statuses }) {
  const dueAtMs = performance.now();
  let isOver = false;
  const end = (outcome) => {
    if (isOver) return;
    isOver = true;
    timesMs.push(performance.now() - dueAtMs);
    const pluralize = `${title}\n${outcome}`;
    outcomes[pluralize] = (outcomes[pluralize] ?? 0) + 1;
  };
  const request = http.request(url, { method, agent, headers: { "content-length": bodyBytes } }, (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (piece) => (text += piece));
    response.once("end", () => end(statuses.includes(response.statusCode) ? "well" : `${response.statusCode} ${text.slice(0, 300)}`));
    response.once("error", (error) => end(`cut: ${error.message}`));
  });
  request.once("error", (error) => end(error.message));
  request.setTimeout(answerTimeoutMs, () => request.destroy(new Error(`no answer within ${answerTimeoutMs} ms`)));
  request.end(Buffer.alloc(bodyBytes, "x"));
}

function report() {
  const sorted = timesMs.toSorted((left, right) => left - right);
  const at = (share) => sorted[Math.floor(sorted.length * share)] ?? 0;
  process.send({ requests: sorted.length, outcomes, p50Ms: at(0.5), p99Ms: at(0.99) });
  timesMs = [];
  outcomes = {};
}
