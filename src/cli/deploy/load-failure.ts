import { ApiError } from "../../shared/api-error.js";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import type { PackedFile } from "../pack/pack-plan.js";
import { findSyntaxError } from "../validate/syntax-errors.js";

/** The error of an upload as it is shown: one of code that cannot be loaded says that nothing changed, and has the lines at fault. */
export async function loadFailure(
  error: unknown,
  { folder, files }: { readonly folder: string; readonly files: readonly PackedFile[] },
): Promise<unknown> {
  if (!(error instanceof ApiError) || error.code !== "WORKER_START_FAILED") return error;
  const place = error.message.includes("SyntaxError") ? await findSyntaxError(folder, files) : undefined;
  return new CommandError(error.code, `${asSentence(error.message)} Nothing was changed.`, {
    exitCode: exitCodes.failed,
    details: place?.details,
    hint: "runtimectl dev shows the code's whole output; --no-check deploys it nevertheless",
  });
}

/** What code throws seldom ends with a full stop. */
function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
