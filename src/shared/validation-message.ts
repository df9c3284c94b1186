import type * as z from "zod";

const typeNames: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a group of fields",
  record: "a group of fields",
};
const units: Readonly<Record<string, string>> = { string: "characters", array: "entries", set: "entries", map: "entries" };

/** Returns the text of an issue with the path of its value, such as `limits.memory: must be a number`. */
export function issueText({ path, message }: Pick<z.core.$ZodIssue, "path" | "message">): string {
  return `${path.join(".")}: ${message}`;
}

/**
 * Returns the message for an invalid value, such as `must be a number`. A schema calls this function only for a rule without a message of
 * its own. Returns undefined for other rules, and zod then writes the message.
 */
export function validationMessage(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is missing" : `must be ${typeName(issue.expected)}`;
    case "invalid_union":
      return issue.input === undefined ? "is missing" : unionMessage(issue.errors);
    case "invalid_value":
      return issue.input === undefined ? "is missing" : `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.join(", ")}`;
    case "too_big":
      return limitOf("most", issue.maximum, issue.origin);
    case "too_small":
      return limitOf("least", issue.minimum, issue.origin);
    case "unrecognized_keys":
      return `has unknown fields: ${issue.keys.join(", ")}`;
    case "custom":
    case "invalid_element":
    case "invalid_format":
    case "invalid_key":
    case "not_multiple_of":
      break;
  }
  return undefined;
}

function typeName(expected: string): string {
  return typeNames[expected] ?? `of the type ${expected}`;
}

/** Returns the message for a value that matches none of the types of a union. `errors` contains the issues of each type. */
function unionMessage(errors: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const inField = errors.flat().find(({ path }) => path.length > 0);
  if (inField) return issueText(inField);
  const types = errors.map(([first]) => (first?.code === "invalid_type" ? typeName(first.expected) : undefined));
  return types.includes(undefined) ? undefined : `must be ${[...new Set(types)].join(" or ")}`;
}

function limitOf(end: "most" | "least", limit: number | bigint, origin: string): string {
  const unit = units[origin];
  if (unit === undefined) return `must be at ${end} ${limit}`;
  return end === "least" && limit === 1 ? "must not be empty" : `must have at ${end} ${limit} ${unit}`;
}
