import { usageError } from "../command/command-error.js";
import type { Environment } from "../config/environment.js";

/** Output formats. With `automatic`, a command prints a table on a terminal and tab-separated values in a pipe. */
const formats = ["automatic", "json", "plain", "table"] as const;
export type OutputFormat = (typeof formats)[number];

/**
 * Returns the words before `--`, which can contain output flags. These flags are read before the command line is parsed, so that even a
 * parse error has the selected format.
 */
function outputFlags(given: readonly string[]): readonly string[] {
  const end = given.indexOf("--");
  return end === -1 ? given : given.slice(0, end);
}

const isJsonFlag = (word: string): boolean => word === "--json" || word.startsWith("--json=");

/** Whether the user wants errors as JSON documents. Never throws. */
export function wantsJson(given: readonly string[], environment: Environment): boolean {
  const flags = outputFlags(given);
  return flags.some(isJsonFlag) || (environment.RUNTIMECTL_OUTPUT === "json" && !flags.includes("--plain"));
}

/** Chooses the output format. A flag overrides RUNTIMECTL_OUTPUT. */
export function chooseFormat(given: readonly string[], environment: Environment): OutputFormat {
  const flags = outputFlags(given);
  const [json, plain] = [flags.some(isJsonFlag), flags.includes("--plain")];
  if (json && plain) throw usageError("--json and --plain cannot be used together");
  if (json) return "json";
  if (plain) return "plain";
  const named = environment.RUNTIMECTL_OUTPUT;
  if (named === undefined) return "automatic";
  const format = formats.slice(1).find((known) => known === named);
  if (format === undefined) throw usageError(`RUNTIMECTL_OUTPUT: ${named} is not an output format`, `use ${formats.slice(1).join(", ")}`);
  return format;
}

/** Returns the fields that `--json=name,version` selects. Undefined if no flag selects fields. */
export function chosenFields(given: readonly string[]): readonly string[] | undefined {
  const words = outputFlags(given).filter((word) => word.startsWith("--json="));
  if (words.length === 0) return undefined;
  return words.flatMap((word) => word.slice("--json=".length).split(",")).map((field) => field.trim());
}

/**
 * Replaces `--json=FIELDS` with `--json`. The argument parser defines `--json` as a flag without a value, because a flag with an optional
 * value would consume the next argument.
 */
export function withoutFields(words: readonly string[]): readonly string[] {
  const flags = outputFlags(words);
  return [...flags.map((word) => (isJsonFlag(word) ? "--json" : word)), ...words.slice(flags.length)];
}

type Fields = Readonly<Record<string, unknown>>;

/** Throws a usage error if the user selects a field that the command's result does not have. Called before the command runs. */
export function refuseUnknownFields(wanted: readonly string[], known: readonly string[] | undefined, words: string): void {
  if (known === undefined)
    throw usageError(`--json=${wanted.join(",")}: runtimectl ${words} does not support field selection`, "use --json without fields");
  const unknown = wanted.find((field) => !known.includes(field));
  if (unknown !== undefined)
    throw usageError(`--json: runtimectl ${words} has no field ${JSON.stringify(unknown)}`, `fields: ${known.join(", ")}`);
}

/**
 * Returns the JSON document with only the selected fields, in the selected order. If the document is a list, keeps these fields of each
 * row.
 */
export function withFields(document: unknown, fields: readonly string[]): unknown {
  const entries = Object.entries(document as Fields);
  const [name, rows] = entries[0] ?? [];
  if (entries.length === 1 && name !== undefined && Array.isArray(rows)) return { [name]: rows.map((row: Fields) => pick(row, fields)) };
  return pick(document as Fields, fields);
}

function pick(from: Fields, fields: readonly string[]): Fields {
  return Object.fromEntries(fields.filter((field) => Object.hasOwn(from, field)).map((field) => [field, from[field]]));
}
