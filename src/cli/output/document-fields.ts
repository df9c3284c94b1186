import { usageError } from "../command/command-error.js";

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
