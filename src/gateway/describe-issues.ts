import type * as z from "zod";

type Issue = z.core.$ZodIssue;

/** Returns one line per validation issue, such as `rateLimits[0].window: "1 fortnight" is not a duration such as 10s, 1m, 1h`. */
export function describeIssues(issues: readonly Issue[]): string {
  return issues.map(describe).join("\n");
}

function describe(issue: Issue): string {
  // If a setting accepts a map or a boolean, reports the issues inside the map, because "is not true or false" would not help the operator.
  if (issue.code === "invalid_union") {
    const inner = issue.errors.flat().filter(({ code, path }) => path.length > 0 || code === "unrecognized_keys");
    if (inner.length > 0) return inner.map((one) => describe({ ...one, path: [...issue.path, ...one.path] })).join("\n");
  }
  const key = nameOf(issue.path);
  return key === "" ? sentence(issue) : `${key}: ${sentence(issue)}`;
}

function sentence(issue: Issue): string {
  if (issue.code === "unrecognized_keys") return issue.message;
  if (issue.input === undefined) return "is missing";
  // The message of a rule about several settings is complete, so the value of a single setting is not added.
  const isOfSeveral = issue.code === "custom" && typeof issue.input === "object";
  return isOfSeveral ? issue.message : `${shown(issue.input)} ${wordsOf(issue)}`;
}

function wordsOf(issue: Issue): string {
  if (issue.code !== "invalid_type" || !issue.message.startsWith("Invalid input")) return issue.message;
  if (issue.expected === "boolean") return "is not true or false";
  if (issue.expected === "array") return "is not a list";
  return issue.expected === "string" ? "is not a string" : `is not of the type ${issue.expected}`;
}

function shown(input: unknown): string {
  const text = JSON.stringify(input);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

/** Returns the path of a setting as a text, such as `cors[1].origins[0]`. */
function nameOf(path: readonly PropertyKey[]): string {
  return path.map((part, index) => (typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`)).join("");
}
