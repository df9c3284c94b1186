import { usageError } from "../command/command-error.js";
import type { Environment } from "../config/environment.js";

/** `automatic` is a table on a terminal and tab-separated values in a pipe. */
const formats = ["automatic", "json", "plain", "table"] as const;
export type OutputFormat = (typeof formats)[number];

/** What the words before any `--` say about output; read before they are parsed, so that failures to parse are shown the same way. */
function outputFlags(given: readonly string[]): readonly string[] {
  const end = given.indexOf("--");
  return end === -1 ? given : given.slice(0, end);
}

const isJsonFlag = (word: string): boolean => word === "--json" || word.startsWith("--json=");

/** Whether failures are shown as documents. Never fails itself. */
export function wantsJson(given: readonly string[], environment: Environment): boolean {
  const flags = outputFlags(given);
  return flags.some(isJsonFlag) || (environment.RUNTIMECTL_OUTPUT === "json" && !flags.includes("--plain"));
}

/** How results are shown: a flag wins over RUNTIMECTL_OUTPUT. */
export function chooseFormat(given: readonly string[], environment: Environment): OutputFormat {
  const flags = outputFlags(given);
  const [json, plain] = [flags.some(isJsonFlag), flags.includes("--plain")];
  if (json && plain) throw usageError("--json and --plain exclude each other");
  if (json) return "json";
  if (plain) return "plain";
  const named = environment.RUNTIMECTL_OUTPUT;
  if (named === undefined) return "automatic";
  const format = formats.slice(1).find((known) => known === named);
  if (format === undefined)
    throw usageError(`RUNTIMECTL_OUTPUT: ${named} is not a form of output`, `one of ${formats.slice(1).join(", ")}`);
  return format;
}

/** The fields that `--json=name,version` asks for; undefined without any. */
export function chosenFields(given: readonly string[]): readonly string[] | undefined {
  const words = outputFlags(given).filter((word) => word.startsWith("--json="));
  if (words.length === 0) return undefined;
  return words.flatMap((word) => word.slice("--json=".length).split(",")).map((field) => field.trim());
}

/** The words as the parser takes them: for it `--json` has no value, so that it never swallows an argument. */
export function withoutFields(words: readonly string[]): readonly string[] {
  const flags = outputFlags(words);
  return [...flags.map((word) => (isJsonFlag(word) ? "--json" : word)), ...words.slice(flags.length)];
}

type Fields = Readonly<Record<string, unknown>>;

/** Refuses fields that the command's document never has, before anything is done. */
export function refuseUnknownFields(wanted: readonly string[], known: readonly string[] | undefined, words: string): void {
  if (known === undefined) throw usageError(`${words} has no fields to choose from`, "use --json for the whole document");
  const unknown = wanted.find((field) => !known.includes(field));
  if (unknown !== undefined) throw usageError(`there is no field ${JSON.stringify(unknown)}`, `fields: ${known.join(", ")}`);
}

/** The document with these fields only, in their order; of a list, which has one field that is an array, each row with them. */
export function withFields(document: unknown, fields: readonly string[]): unknown {
  const entries = Object.entries(document as Fields);
  const [name, rows] = entries[0] ?? [];
  if (entries.length === 1 && name !== undefined && Array.isArray(rows)) return { [name]: rows.map((row: Fields) => pick(row, fields)) };
  return pick(document as Fields, fields);
}

function pick(from: Fields, fields: readonly string[]): Fields {
  return Object.fromEntries(fields.filter((field) => Object.hasOwn(from, field)).map((field) => [field, from[field]]));
}
