import { environmentVariables } from "./environment.js";
import { exitCodes } from "./exit-codes.js";

export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: "Done; an empty list is done too",
  failed: "Failed for a reason that none of the others names",
  usage: "Written wrongly, or an answer is needed and nobody can be asked",
  declined: "Declined at a question; nothing was changed",
  notAuthenticated: "No key, or the daemon does not accept it",
  forbidden: "The key may not do this",
  notFound: "What the command names does not exist",
  conflict: "In conflict with what is there",
  unavailable: "Not reachable, too slow, or failing: a retry may help",
  interrupted: "Interrupted by Ctrl-C",
  terminated: "Ended by SIGTERM",
};

/** What `runtimectl help TOPIC` says beyond commands. */
export const helpTopics = {
  "exit-codes": () =>
    `Exit codes:\n${table(Object.entries(exitCodes).map(([name, code]) => [String(code), exitCodeMeanings[name as keyof typeof exitCodes]]))}\n\n` +
    `With --json a failure is one document on stderr: {"error":{"code","message","hint","status","requestId","exitCode"}}; stdout stays empty.\n`,
  environment: () =>
    `Variables:\n${table(Object.entries(environmentVariables))}\n\nPrecedence: flag > variable > project file (.runtimectl.yaml) > profile > default.\n`,
};

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
