import { fileURLToPath } from "node:url";

const steadyLoad = fileURLToPath(new URL("../support/steady-load.mjs", import.meta.url));
const plans = [
  { worker: "echo", method: "POST", bodyBytes: 4096 },
  { worker: "html", method: "GET", bodyBytes: 0 },
  { worker: "json", method: "GET", bodyBytes: 0 },
];
/** Of each worker: some 700 requests a second. */
const connections = 8;
const pauseMs = 10;

/** Other workers that are asked all the time, and lose nothing: `end()` resolves with how many requests they had, and throws when one failed. */
export function startSteadyOthers(stage, urlOf) {
  let requests = 0;
  const problems = [];
  const loads = plans.map(({ worker, ...plan }) => {
    const load = JSON.stringify({ ...plan, url: urlOf(worker), connections, pauseMs, mayFail: false });
    const child = stage.spawn(process.execPath, [steadyLoad, load], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    child.on("message", (second) => {
      requests += second.requests;
      if (second.failures > 0) problems.push(`${worker} lost ${second.failures} requests in a second: ${second.problem}`);
    });
    return child;
  });
  return {
    async end() {
      await Promise.all(loads.map((load) => stage.end(load)));
      if (problems.length > 0) throw new Error(problems.join("\n"));
      return requests;
    },
  };
}
