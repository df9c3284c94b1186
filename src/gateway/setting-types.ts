import * as z from "zod";
import { parseDurationMs } from "../shared/duration.js";
import { nearestWord } from "../shared/nearest-word.js";

/** Returns the schema of a settings map that rejects unknown keys and suggests the nearest known key. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== "unrecognized_keys") return "is not a map of settings";
      return `has no setting ${issue["keys"].map((key) => nameWithNearest(key, known)).join(" and no ")}`;
    },
  });
}

function nameWithNearest(key: string, known: readonly string[]): string {
  const nearest = nearestWord(key, known);
  return `${key} (${nearest === undefined ? `there are ${known.join(", ")}` : `did you mean ${nearest}?`})`;
}

/** Returns the schema of a list of strings. `problemOf` returns the problem of a string, or undefined for a valid string. */
export function listOf(problemOf: (text: string) => string | undefined): z.ZodArray<z.ZodString> {
  return z.array(
    z.string().superRefine((text, context) => {
      const problem = problemOf(text);
      if (problem !== undefined) context.addIssue({ code: "custom", message: problem, input: text });
    }),
  );
}

/** Returns the schema of a duration from `fromMs` to `toMs`. The schema's output is in milliseconds. */
export function duration(limits: { fromMs: number; toMs: number; range: string }) {
  return z.union([z.string(), z.number()], "is not a duration such as 10s, 1m, 1h").transform((value, context) => {
    const milliseconds = parseDurationMs(value);
    if (milliseconds !== undefined && milliseconds >= limits.fromMs && milliseconds <= limits.toMs) return milliseconds;
    const message = milliseconds === undefined ? "is not a duration such as 10s, 1m, 1h" : `must be ${limits.range}`;
    context.addIssue({ code: "custom", message, input: value });
    return z.NEVER;
  });
}

export const method = z.string().regex(/^[A-Z]{1,20}$/, "is not a method such as GET");
export const headerName = z.string().regex(/^[\w!#$%&'+.^`|~-]{1,100}$/, "is not the name of a header");
export const headerValue = z.string().regex(/^[\x20-\x7e]{1,8000}$/, "is not the value of a header: printable ASCII on one line");
