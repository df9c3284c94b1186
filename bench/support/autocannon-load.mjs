// Load generator for machines without wrk. Reads the plan as JSON from the first argument, and writes a report in the format of report.lua.
import autocannon from "autocannon";

const { url, connections, seconds, method, headers, bodyBytes, paths, hosts, inARow } = JSON.parse(process.argv[2]);
/** The headers of a request replace the headers of the load. */
const hostOf = (index) => (hosts.length > 0 ? { headers: { ...headers, host: hosts[index] } } : {});
const result = await autocannon({
  url,
  connections,
  duration: seconds,
  method,
  headers,
  ...(bodyBytes > 0 ? { body: "x".repeat(bodyBytes) } : {}),
  // Each connection requests all paths of the list in turn.
  ...(paths.length > 0
    ? {
        requests: paths.flatMap((path, index) =>
          Array.from({ length: Math.ceil(inARow / connections) }, () => ({ path, ...hostOf(index) })),
        ),
      }
    : {}),
});
const report = {
  requests: result.requests.total,
  seconds: result.duration,
  bytes: result.throughput.total,
  p50Ms: result.latency.p50,
  p99Ms: result.latency.p99,
  errors: result.errors + result.timeouts + result["4xx"] + result["5xx"],
};
console.log(`report ${JSON.stringify(report)}`);
