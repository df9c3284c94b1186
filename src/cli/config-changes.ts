import type { ConfigField } from "../shared/contract/configuration.js";
import { usageError } from "./command/command-error.js";

/** Options of the commands that change a configuration. */
export interface ConfigOptions {
  readonly set?: readonly string[];
  readonly unset?: readonly string[];
}

export const configHeadings = ["FIELD", "VALUE", "SOURCE", "NOTE"];

/** Returns a table row for each field of a configuration. */
export function fieldRows(fields: readonly ConfigField[]): string[][] {
  return fields.map(({ name, value, source, note }) => [name, textOf(value), source, note ?? ""]);
}

/** A change of one field. `text` is the new value as YAML; undefined removes the field. */
export interface FieldChange {
  readonly field: string;
  readonly text: string | undefined;
}

/** Returns the changes that the options name. Throws a usage error for an entry of `--set` without a field or a value. */
export function fieldChanges({ set = [], unset = [] }: ConfigOptions): FieldChange[] {
  const changed = set.map((entry): FieldChange => {
    const [, field, text] = /^([^=]+)=(.*)$/s.exec(entry) ?? [];
    if (field !== undefined) return { field, text };
    throw usageError(`${JSON.stringify(entry)} is not a field with a value`, "use FIELD=VALUE, such as memory=256mb");
  });
  const both = changed.find(({ field }) => unset.includes(field));
  if (both) throw usageError(`the field ${both.field} is in both --set and --unset`, "remove it from one of them");
  return [...changed, ...unset.map((field): FieldChange => ({ field, text: undefined }))];
}

/** Returns the new values by field; null removes the field. Throws a usage error for text that is not YAML. */
export async function newValues(changes: readonly FieldChange[]): Promise<Record<string, unknown>> {
  const { parse } = await import("./config/parse-yaml.js");
  return Object.fromEntries(
    changes.map(({ field, text }) => {
      try {
        return [field, text === undefined ? null : (parse(text) as unknown)] as const;
      } catch {
        throw usageError(
          `the value in ${JSON.stringify(`${field}=${text}`)} is not valid YAML`,
          "quote the value, such as 'path=\"full\"'",
        );
      }
    }),
  );
}

function textOf(value: unknown): string {
  if (value === null) return "-";
  return typeof value === "string" ? value : JSON.stringify(value);
}
