import { ApiError } from "../../shared/api-error.js";
import type { EndpointDefinition } from "../../shared/contract/endpoint.js";
import type { ErrorCode } from "../../shared/errors.js";

/** The changes that other daemons with the same primary have made and that this daemon possibly has not received yet. */
export interface NewestChanges {
  /** Returns whether such a change can be the cause of an error. */
  readonly canCause: (code: ErrorCode) => boolean;
  /**
   * Resolves when this daemon has applied all changes that can cause the error. Throws KEY_STORE_UNAVAILABLE, INDEX_DIVERGED or
   * PACKAGE_UNAVAILABLE.
   */
  readonly apply: (code: ErrorCode) => Promise<void>;
}

/**
 * Returns whether the daemon can call the handler of an operation twice: the operation changes data, its caller is known, and its body is
 * not consumed by the first call.
 */
export function isRepeatable({ method, access, upload, form }: EndpointDefinition): boolean {
  return method !== "GET" && access !== "public" && upload === undefined && form === undefined;
}

/**
 * Calls `act`. If a change of another daemon can be the cause of its error, applies the newest changes and calls `act` once more.
 * `beforeRepetition` is called between the two.
 */
export async function withNewestChanges<Result>(
  { canCause, apply }: NewestChanges,
  { act, beforeRepetition }: { readonly act: () => Promise<Result>; readonly beforeRepetition: () => void },
): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ApiError) || !canCause(error.code)) throw error;
    await apply(error.code);
  }
  beforeRepetition();
  return await act();
}
