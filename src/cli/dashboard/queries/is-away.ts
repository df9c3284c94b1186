import { ApiError } from "../../../shared/api-error.js";
import { UnexpectedAnswerError } from "../../../shared/client.js";
import { CommandError } from "../../command/command-error.js";
import { exitCodes } from "../../command/exit-codes.js";

/** Whether an error means that the daemon is temporarily unreachable. */
export function isAway(error: unknown): boolean {
  if (error instanceof CommandError) return error.exitCode === exitCodes.unavailable;
  return (error instanceof ApiError || error instanceof UnexpectedAnswerError) && error.status >= 500;
}
