import { ApiError } from "../../shared/api-error.js";
import { UnexpectedAnswerError } from "../../shared/client.js";
import { CommandError } from "./command-error.js";
import { exitCodeOfStatus, exitCodes, type ExitCode } from "./exit-codes.js";
import type { FailureReport, Output } from "../output/output.js";

const smallerArchive =
  "leave files out with .runtimeignore, or make one file of the code with --bundle; runtimectl pack --list shows sizes";

/** What to do next for failures that the daemon reports; it does not know how its caller signs in. */
const hints: Readonly<Partial<Record<ApiError["code"], string>>> = {
  AUTH_REQUIRED: "the key is unknown, expired or revoked; sign in with: runtimectl auth login",
  INVALID_KEY: "check the key, or ask for a new one",
  PERMISSION_DENIED: "see what your key may do with: runtimectl auth status",
  NAMESPACE_DENIED: "ask for a key with --namespace of this package's @scope",
  CSRF_ORIGIN_MISMATCH: "a proxy changes the Host header; use the URL that the daemon itself sees, or let the proxy keep Host",
  WORKER_NOT_FOUND: "runtimectl workers list",
  WORKER_VERSION_NOT_FOUND: "runtimectl workers list",
  PLUGIN_NOT_FOUND: "runtimectl plugins list",
  PLUGIN_MANIFEST_NOT_FOUND: "add a manifest.yaml to the plugin's folder, and upload it again",
  BUILT_IN_PLUGIN_REMOVE_FORBIDDEN: "switch it off with: runtimectl plugins disable",
  PAYLOAD_TOO_LARGE: smallerArchive,
  ARCHIVE_TOO_LARGE: smallerArchive,
  KEY_NOT_FOUND: "runtimectl keys list",
};

/** Says what failed on stderr; returns the exit code for it. The one place where failures become exit codes. */
export function reportFailure(error: unknown, output: Output): ExitCode {
  const report = describeFailure(error);
  output.failure({ ...report, docs: "runtimectl help exit-codes" }, error instanceof Error ? error.stack : undefined);
  return report.exitCode;
}

/** What is known about a failure, and the exit code for it. */
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
    return { code: "INTERRUPTED", message: "interrupted", exitCode: exitCodes.interrupted };
  return { code: "FAILED", message: messageOf(error), exitCode: exitCodes.failed };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Details as lines: the daemon sends strings, or objects with a path and a message. */
function detailsOf(details: unknown): { details?: readonly string[] } {
  if (details === undefined) return {};
  const list = Array.isArray(details) ? details : [details];
  return { details: list.map((detail: unknown) => (typeof detail === "string" ? detail : JSON.stringify(detail))) };
}
