import type { ApiError } from "./api-error.js";

/** Returns the log lines in the error of an upload whose worker version failed the check, newest last. Empty for any other error. */
export function checkLogOf({ details }: ApiError): readonly string[] {
  const log = typeof details === "object" && details !== null && "log" in details ? details.log : undefined;
  return Array.isArray(log) ? log.map(String) : [];
}

/** Returns the message of an upload error, followed by the worker's last log line that is not part of a stack trace. */
export function messageWithReason(error: ApiError): string {
  const reason = checkLogOf(error).findLast((line) => line !== "" && !/^\s+at /.test(line));
  return reason === undefined ? error.message : `${error.message.replace(" The worker's log has the reason.", "")} ${reason}`;
}
