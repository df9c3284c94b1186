import type { ConfigSchema } from "../../../shared/config-schema.js";

/**
 * The form control for a value. `switch`: true, false or a map of settings. `list`: one text or group of fields per item. `yaml`: any value
 * as YAML text.
 */
export type SchemaKind = "choice" | "boolean" | "text" | "list" | "group" | "switch" | "yaml";

const scalarTypes: readonly unknown[] = ["string", "number", "integer", "boolean"];

export function kindOf(schema: ConfigSchema): SchemaKind {
  const types = [schema.type ?? []].flat();
  if (schema.enum?.every((choice) => typeof choice === "string" || typeof choice === "boolean" || typeof choice === "number"))
    return "choice";
  if (types.length === 1 && types[0] === "boolean") return "boolean";
  if (types.length > 0 && types.every((type) => scalarTypes.includes(type))) return "text";
  if (types.length === 2 && types.includes("boolean") && types.includes("object") && schema.properties) return "switch";
  if (types.length !== 1) return "yaml";
  if (types[0] === "object") return schema.properties ? "group" : "yaml";
  return schema.items && ["text", "group", "choice"].includes(kindOf(schema.items)) ? "list" : "yaml";
}

/**
 * Returns the value that the user typed into a text field. Returns undefined for an empty text. If a number cannot be parsed, returns the
 * typed text.
 */
export function valueOfText(text: string, { type }: ConfigSchema): unknown {
  if (text === "") return undefined;
  const types = [type ?? []].flat();
  const isNumber = types.includes("number") || types.includes("integer");
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  return isNumber && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
}

export function textOfValue(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns a copy of the map with a new value of one property. If the new value is undefined, removes the property. */
export function withProperty(value: unknown, name: string, property: unknown): Readonly<Record<string, unknown>> {
  const { [name]: _, ...others } = isMap(value) ? value : {};
  return property === undefined ? others : { ...(isMap(value) ? value : {}), [name]: property };
}

/** Returns the value of a new item of a list. */
export function newItem(schema: ConfigSchema): unknown {
  if (schema.default !== undefined) return schema.default;
  return kindOf(schema) === "group" ? {} : "";
}

export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
