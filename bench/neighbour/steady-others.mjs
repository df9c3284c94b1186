import { startSteadyLoad } from "../support/start-steady-load.mjs";

const plans = [
  { worker: "echo", method: "POST", bodyBytes: 4096 },
  { worker: "html", method: "GET", bodyBytes: 0 },
  { worker: "json", method: "GET", bodyBytes: 0 },
];
/** Number of connections to each worker, which results in about 700 requests per second. */
const connections = 8;
const pauseMs = 10;

/** Steady load on other workers. `end()` resolves with the number of requests, and rejects if a request failed. */
export function startSteadyOthers(stage, urlOf) {
  let requests = 0;
  const problems = [];
  const onSecond = (second) => (requests += second.requests);
  const onProblem = (problem) => problems.push(problem);
  const loads = plans.map(({ worker, ...plan }) =>
    startSteadyLoad(stage, { ...plan, url: urlOf(worker), connections, pauseMs, mayFail: false }, { onSecond, onProblem }),
  );
  return {
    async end() {
      await Promise.all(loads.map((load) => stage.end(load)));
      if (problems.length > 0) throw new Error(problems.join("\n"));
      return requests;
    },
  };
}
