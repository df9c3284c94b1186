/**
 * Exit codes of runtimectl, documented in docs/reference/runtimectl.md. A number never changes its meaning, because scripts depend on the
 * numbers.
 */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  declined: 3,
  notAuthenticated: 4,
  forbidden: 5,
  notFound: 6,
  conflict: 7,
  unavailable: 8,
  partlyDone: 9,
  changesPending: 10,
  rolledBack: 11,
  notRolledBack: 12,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** Returns the exit code for the HTTP status of a failed request. A few error codes have their own exit code, regardless of the status. */
export function exitCodeOfStatus(status: number, errorCode?: string): ExitCode {
  if (errorCode === "KEY_SELF_REVOKE_FORBIDDEN") return exitCodes.conflict;
  if (status === 401) return exitCodes.notAuthenticated;
  if (status === 403) return exitCodes.forbidden;
  if (status === 404) return exitCodes.notFound;
  if (status === 409 || status === 412) return exitCodes.conflict;
  if (status === 408 || status === 429 || status >= 500) return exitCodes.unavailable;
  return exitCodes.failed;
}
