import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("steady-load.mjs", import.meta.url));

/**
 * Starts a process that sends steady requests, and returns the process. `plan` is the plan of `steady-load.mjs`. `onSecond` receives `{
 * requests, failures, problem, p99Ms }` each second, and `onProblem` a text about lost requests.
 */
export function startSteadyLoad(stage, plan, { onSecond, onProblem }) {
  const child = stage.spawn(process.execPath, [program, JSON.stringify(plan)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  child.on("message", (second) => {
    onSecond(second);
    if (second.failures > 0) onProblem(`${plan.url} lost ${second.failures} requests in a second: ${second.problem}`);
  });
  return child;
}
