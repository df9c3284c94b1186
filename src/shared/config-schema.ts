import * as z from "zod";

/** Types of a value in a plugin's settings. `number` accepts fractions. */
const valueTypes = ["object", "array", "string", "number", "integer", "boolean"] as const;
type ValueType = (typeof valueTypes)[number];

/** Maximum nesting depth of a settings schema, and of a value under validation. The limit keeps the recursion of both checks short. */
const deepestSchema = 16;

/**
 * The part of JSON Schema that `configSchema` of a plugin manifest can use. A list of types such as `[string, number]` allows each of them;
 * without `type`, every value is valid. Other keywords are rejected, because no code checks them.
 */
export interface ConfigSchema {
  readonly type?: ValueType | readonly ValueType[] | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly default?: unknown;
  readonly enum?: readonly unknown[] | undefined;
  readonly properties?: Readonly<Record<string, ConfigSchema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly items?: ConfigSchema | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
}

const anyType = z.enum(valueTypes);
export const ConfigSchema: z.ZodType<ConfigSchema> = z.strictObject({
  type: z.union([anyType, z.array(anyType).min(1)], `must be ${valueTypes.join(", ")}, or a list of these`).optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  default: z.unknown().optional(),
  enum: z.array(z.unknown()).min(1).optional(),
  get properties() {
    return z.record(z.string(), ConfigSchema).optional();
  },
  required: z.array(z.string()).optional(),
  get items() {
    return ConfigSchema.optional();
  },
  minimum: z.number().optional(),
  maximum: z.number().optional(),
});

/** A part of a value that does not match the schema. `path` leads to this part and begins with the name of the setting. */
export interface SchemaFault {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Returns the parts of a value that do not match the schema. Unknown properties of objects are accepted. */
export function schemaFaults(schema: ConfigSchema, value: unknown, path: readonly (string | number)[] = []): SchemaFault[] {
  if (path.length > deepestSchema) return [{ path, message: `is nested more than ${deepestSchema} levels deep` }];
  const types = [schema.type ?? []].flat();
  if (types.length > 0 && !types.some((type) => hasType(value, type))) return [{ path, message: `must be ${described(types)}` }];
  if (schema.enum && !schema.enum.some((choice) => JSON.stringify(choice) === JSON.stringify(value)))
    return [{ path, message: `must be one of ${schema.enum.map((choice) => JSON.stringify(choice)).join(", ")}` }];
  if (typeof value === "number") return rangeFaults(schema, value, path);
  if (Array.isArray(value)) {
    const { items } = schema;
    return items ? value.flatMap((item, index) => schemaFaults(items, item, [...path, index])) : [];
  }
  return isObject(value) ? propertyFaults(schema, value, path) : [];
}

function rangeFaults({ minimum, maximum }: ConfigSchema, value: number, path: readonly (string | number)[]): SchemaFault[] {
  if (minimum !== undefined && value < minimum) return [{ path, message: `must be ${minimum} or more` }];
  return maximum !== undefined && value > maximum ? [{ path, message: `must be ${maximum} or less` }] : [];
}

function propertyFaults(
  { properties = {}, required = [] }: ConfigSchema,
  value: Readonly<Record<string, unknown>>,
  path: readonly (string | number)[],
): SchemaFault[] {
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  return [
    ...missing.map((name) => ({ path: [...path, name], message: "is missing" })),
    ...Object.entries(properties).flatMap(([name, property]) =>
      Object.hasOwn(value, name) ? schemaFaults(property, value[name], [...path, name]) : [],
    ),
  ];
}

/**
 * Returns a copy of the value in which missing properties have the defaults of the schema, also in nested objects. Does not change `value`.
 */
function withDefaults(schema: ConfigSchema, value: unknown): unknown {
  if (!isObject(value) || !schema.properties) return value;
  const filled = Object.entries(schema.properties).flatMap(([name, property]) => {
    const own = Object.hasOwn(value, name) ? value[name] : property.default;
    return own === undefined ? [] : [[name, withDefaults(property, own)] as const];
  });
  return { ...value, ...Object.fromEntries(filled) };
}

/**
 * Returns the settings of a plugin with the defaults of the schema, and the parts that do not match the schema. A default that does not
 * match is a fault, too.
 */
export function completedSettings(schema: ConfigSchema, declared: unknown): { readonly settings: unknown; readonly faults: SchemaFault[] } {
  const settings = withDefaults(schema, declared);
  return { settings, faults: schemaFaults(schema, settings) };
}

function hasType(value: unknown, type: ValueType): boolean {
  if (type === "object") return isObject(value);
  if (type === "array") return Array.isArray(value);
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

const typeNames: Readonly<Record<ValueType, string>> = {
  object: "a map",
  array: "a list",
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
};

function described(types: readonly ValueType[]): string {
  return types.map((type) => typeNames[type]).join(" or ");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
