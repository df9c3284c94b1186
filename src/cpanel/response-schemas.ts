// Replaces zod for the contract in the panel's bundle, which saves 25 kB of compressed code before the sign-in. Checks only the types in
// responses. Rules for lengths and patterns have no effect: the daemon checks the requests.

/**
 * Returns a sentence about the first value of a wrong type, or undefined if all types are right. `path` is the position of the value for
 * this sentence.
 */
type TypeCheck = (value: unknown, path: string) => string | undefined;
type Shape = Readonly<Record<string, ResponseSchema>>;

/** A schema with the methods of zod that the contract uses. A response passes through unchanged if it has the right types. */
export class ResponseSchema {
  readonly problemOf: TypeCheck;
  readonly shape: Shape;

  constructor(problemOf: TypeCheck, shape: Shape = {}) {
    this.problemOf = problemOf;
    this.shape = shape;
  }

  /** The Standard Schema interface, with which the client validates responses. */
  get "~standard"() {
    return {
      version: 1,
      vendor: "runtimed",
      validate: (value: unknown) => {
        const message = this.problemOf(value, "response");
        return message === undefined ? { value } : { issues: [{ message }] };
      },
    } as const;
  }

  optional(): ResponseSchema {
    return optional(this);
  }

  nullable(): ResponseSchema {
    return nullable(this);
  }

  default(): ResponseSchema {
    return optional(this);
  }

  extend(more: Shape): ResponseSchema {
    return object({ ...this.shape, ...more });
  }

  /** Returns a schema that accepts every value. Only inputs have transformations, and the daemon performs them. */
  transform(): ResponseSchema {
    return unknown();
  }

  int(): ResponseSchema {
    return int();
  }

  check(): this {
    return this;
  }

  describe(): this {
    return this;
  }

  refine(): this {
    return this;
  }

  superRefine(): this {
    return this;
  }

  min(): this {
    return this;
  }

  max(): this {
    return this;
  }

  regex(): this {
    return this;
  }

  trim(): this {
    return this;
  }
}

function typed(type: "string" | "number" | "boolean"): () => ResponseSchema {
  return () => new ResponseSchema((value, path) => (typeof value === type ? undefined : `${path} is not a ${type}`));
}

export const string = typed("string");
export const boolean = typed("boolean");
export const number = typed("number");
/** The contract uses `coerce` only for query parameters, which the daemon checks. */
export const coerce = { number, string };

export function int(): ResponseSchema {
  return new ResponseSchema((value, path) => (Number.isSafeInteger(value) ? undefined : `${path} is not an integer`));
}

export function unknown(): ResponseSchema {
  return new ResponseSchema(() => undefined);
}

export function literal(wanted: unknown): ResponseSchema {
  return new ResponseSchema((value, path) => (value === wanted ? undefined : `${path} is not ${String(wanted)}`));
}

/** Replaces the enumerations of zod. Accepts any text, because a newer daemon can send values that the contract does not list. */
export { string as enum };

export function optional(schema: ResponseSchema): ResponseSchema {
  return new ResponseSchema((value, path) => (value === undefined ? undefined : schema.problemOf(value, path)));
}

/** Replaces the function of zod/mini that sets a default. Only inputs have defaults. In responses, the value can be missing. */
export { optional as prefault };

export function nullable(schema: ResponseSchema): ResponseSchema {
  return new ResponseSchema((value, path) => (value === null ? undefined : schema.problemOf(value, path)));
}

export function array(schema: ResponseSchema): ResponseSchema {
  return new ResponseSchema((value, path) => {
    if (!Array.isArray(value)) return `${path} is not a list`;
    for (const [index, item] of value.entries()) {
      const problem = schema.problemOf(item, `${path}[${index}]`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  });
}

export function object(shape: Shape): ResponseSchema {
  return new ResponseSchema((value, path) => {
    if (!isObject(value)) return `${path} is not an object`;
    for (const [name, schema] of Object.entries(shape)) {
      const problem = schema.problemOf(value[name], `${path}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }, shape);
}
export { object as strictObject };

export function record(keys: ResponseSchema, schema: ResponseSchema): ResponseSchema {
  return new ResponseSchema((value, path) => {
    if (!isObject(value)) return `${path} is not an object`;
    for (const [name, item] of Object.entries(value)) {
      const problem = keys.problemOf(name, `the name ${name} in ${path}`) ?? schema.problemOf(item, `${path}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  });
}

export function union(schemas: readonly ResponseSchema[]): ResponseSchema {
  return new ResponseSchema((value, path) => {
    const problems = schemas.map((schema) => schema.problemOf(value, path));
    return problems.includes(undefined) ? undefined : problems[0];
  });
}

export function lazy(schemaOf: () => ResponseSchema): ResponseSchema {
  return new ResponseSchema((value, path) => schemaOf().problemOf(value, path));
}

/** Replaces the rules of zod/mini. The rules have no effect on responses. */
export function describe(): undefined {
  return undefined;
}
export { describe as regex, describe as minimum, describe as minLength, describe as maxLength };

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Checks only the types of a value. Ignores the rules of the schema, such as maximum lengths. */
export function safeParse(schema: ResponseSchema, value: unknown): { success: true; data: unknown } | { success: false } {
  return schema.problemOf(value, "value") === undefined ? { success: true, data: value } : { success: false };
}

/** Replaces the value that a zod transformation returns after it reports an issue. The panel runs no transformations. */
export const NEVER = undefined;
