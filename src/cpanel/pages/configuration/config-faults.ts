import { ApiError } from "../../../shared/api-error.js";
import type { ConfigFault } from "../../../shared/contract/configuration.js";

/** Returns the invalid fields that the daemon reports for a rejected change of a configuration. */
export function faultsOf(error: unknown): readonly ConfigFault[] {
  if (!(error instanceof ApiError) || error.code !== "INVALID_PACKAGE_METADATA") return [];
  const { fields } = (error.details ?? {}) as { readonly fields?: unknown };
  return Array.isArray(fields) ? fields.filter(isFault) : [];
}

/** Returns the sentences that describe the errors of one field, each with its line in the sent text. Undefined for a valid field. */
export function faultOf(faults: readonly ConfigFault[], field: string): string | undefined {
  const own = faults.filter(({ name }) => name === field);
  return own.length === 0 ? undefined : own.map(({ message }) => message).join("; ");
}

/** Returns the error of a field as text, such as `line 4, memory: …`. */
export function describeFault({ name, message, line }: ConfigFault): string {
  return `${line === undefined ? "" : `line ${line}, `}${name}: ${message}`;
}

function isFault(value: unknown): value is ConfigFault {
  return typeof value === "object" && value !== null && "name" in value && "message" in value;
}
