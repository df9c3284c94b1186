import { ApiError } from "../../shared/api-error.js";
import { UnexpectedAnswerError } from "../../shared/client.js";
import { CommandError } from "./command-error.js";
import { exitCodeOfStatus, exitCodes, type ExitCode } from "./exit-codes.js";
import type { FailureReport, Output } from "../output/output.js";

const smallerArchive = "exclude files with .runtimeignore, or bundle the code with --bundle; to see sizes: runtimectl pack --list";

/**
 * Hints for API errors, by error code. The daemon sends no hints, because the hints name runtimectl commands, which other API clients do
 * not have.
 */
const hints: Readonly<Partial<Record<ApiError["code"], string>>> = {
  AUTH_REQUIRED: "the key is unknown, expired or revoked; sign in with: runtimectl auth login",
  INVALID_KEY: "check the key, or request a new key",
  PERMISSION_DENIED: "to see the permissions of your key: runtimectl auth status",
  NAMESPACE_DENIED: "to see the namespaces of your key: runtimectl auth status",
  CSRF_ORIGIN_MISMATCH: "a proxy changes the Host header: configure it to forward the original Host, or use the daemon's own URL",
  WORKER_NOT_FOUND: "runtimectl workers list",
  WORKER_VERSION_NOT_FOUND: "runtimectl workers list",
  PLUGIN_NOT_FOUND: "runtimectl plugins list",
  PLUGIN_MANIFEST_NOT_FOUND: "add a manifest.yaml to the plugin folder and upload it again",
  PAYLOAD_TOO_LARGE: smallerArchive,
  ARCHIVE_TOO_LARGE: smallerArchive,
  KEY_NOT_FOUND: "runtimectl keys list",
  INDEX_DIVERGED: "runtimectl daemon resync --help",
};

/** Prints the error of a failed command to stderr and returns the exit code. No other function converts an error to an exit code. */
export function reportFailure(error: unknown, output: Output): ExitCode {
  const report = describeFailure(error);
  output.failure({ ...report, docs: "runtimectl help exit-codes" }, error instanceof Error ? error.stack : undefined);
  return report.exitCode;
}

/** Returns the fields to print for a failure, and the exit code. */
export function describeFailure(error: unknown): Omit<FailureReport, "docs"> & { exitCode: ExitCode } {
  if (error instanceof CommandError)
    return {
      code: error.code,
      message: error.message,
      exitCode: error.exitCode,
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      ...(error.status === undefined ? {} : { status: error.status }),
      ...(error.requestId === undefined ? {} : { requestId: error.requestId }),
      ...detailsOf(error.details),
    };
  if (error instanceof ApiError) {
    const hint = hints[error.code];
    return {
      code: error.code,
      message: error.message,
      status: error.status,
      exitCode: exitCodeOfStatus(error.status, error.code),
      ...(hint === undefined ? {} : { hint }),
      ...detailsOf(error.details),
      ...(error.requestId === undefined ? {} : { requestId: error.requestId }),
    };
  }
  if (error instanceof UnexpectedAnswerError)
    return {
      code: "UNEXPECTED_ANSWER",
      message: error.message,
      status: error.status,
      exitCode: error.status >= 500 ? exitCodes.unavailable : exitCodes.failed,
      ...(error.requestId === undefined ? {} : { requestId: error.requestId }),
    };
  if (error instanceof Error && error.name === "ExitPromptError")
    return { code: "INTERRUPTED", message: "the command was interrupted", exitCode: exitCodes.interrupted };
  return { code: "FAILED", message: messageOf(error), exitCode: exitCodes.failed };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Converts the details of an API error to lines. Details are strings, or objects with a path and a message. */
function detailsOf(details: unknown): { details?: readonly string[] } {
  if (details === undefined) return {};
  const list = Array.isArray(details) ? details : [details];
  return { details: list.map((detail: unknown) => (typeof detail === "string" ? detail : JSON.stringify(detail))) };
}
