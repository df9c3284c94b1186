import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("steady-load.mjs", import.meta.url));

/**
 * Steady requests by a process of its own, which it answers with; `plan` is that of `steady-load.mjs`. `onSecond` hears each second of
 * `{ requests, failures, problem, p99Ms }`, `onProblem` in words of requests that were lost.
 */
export function startSteadyLoad(stage, plan, { onSecond, onProblem }) {
  const child = stage.spawn(process.execPath, [program, JSON.stringify(plan)], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  child.on("message", (second) => {
    onSecond(second);
    if (second.failures > 0) onProblem(`${plan.url} lost ${second.failures} requests in a second: ${second.problem}`);
  });
  return child;
}
