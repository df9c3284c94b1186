import type { ApiError } from "./api-error.js";

/** Returns the newest log lines of a worker version that the check of an upload rejected. Empty for other errors. */
export function checkLogOf({ details }: ApiError): readonly string[] {
  const log = typeof details === "object" && details !== null && "log" in details ? details.log : undefined;
  return Array.isArray(log) ? log.map(String) : [];
}

/** Returns the message of an error, with the last log line that is not part of a stack trace. */
export function messageWithReason(error: ApiError): string {
  const reason = checkLogOf(error).findLast((line) => line !== "" && !/^\s+at /.test(line));
  return reason === undefined ? error.message : `${error.message.replace(" The worker's log has the reason.", "")} ${reason}`;
}
