import * as z from "zod";
import { ApiError } from "../../shared/api-error.js";
import type { EndpointDefinition } from "../../shared/contract/endpoint.js";
import type { ErrorCode } from "../../shared/errors.js";
import { validationMessage } from "../../shared/validation-message.js";

/** One problem that the validation of a request's input found. */
export interface InputProblem {
  readonly in: "path" | "query" | "body";
  readonly path: string;
  readonly message: string;
}

/** Parses one part of an operation's input. Throws one error that lists every problem. */
export function parseInput(
  endpoint: EndpointDefinition,
  part: InputProblem["in"],
  schema: z.core.$ZodType | undefined,
  value: unknown,
): unknown {
  if (!schema) return undefined;
  const parsed = z.safeParse(schema, value, { error: validationMessage });
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => ({ in: part, path: issue.path.join("."), message: issue.message }));
  const first = parsed.error.issues[0];
  const code = codeOf(first) ?? endpoint.inputErrors?.[String(first?.path[0])] ?? "INVALID_REQUEST";
  const sentence = problems.map((problem) => `${problem.path || part}: ${problem.message}`).join("; ");
  throw new ApiError(code, `The ${part} of the request is not valid: ${sentence}.`, { details: problems });
}

/** Returns the error code of a validation issue. A check in the contract can set this code in `params`. */
function codeOf(issue: z.core.$ZodIssue | undefined): ErrorCode | undefined {
  return issue?.code === "custom" ? (issue.params?.["code"] as ErrorCode | undefined) : undefined;
}
