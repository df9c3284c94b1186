import { ApiError } from "../../../shared/api-error.js";
import { UnexpectedAnswerError } from "../../../shared/client.js";
import { CommandError } from "../../command/command-error.js";
import { exitCodes } from "../../command/exit-codes.js";

/** Whether a failure means that nobody is there who could answer, for now. */
export function isAway(error: unknown): boolean {
  if (error instanceof CommandError) return error.exitCode === exitCodes.unavailable;
  return (error instanceof ApiError || error instanceof UnexpectedAnswerError) && error.status >= 500;
}
