import { checkResponse, anyResponse } from "../../client/response-check.js";
import type { Context } from "../../command/command.js";
import type { Settings } from "../../config/settings.js";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";

/**
 * Requests an enabled version of a worker and prints the status of the response. Without a response, or if the status is 500 or higher,
 * prints a warning with the reason. Resolves with true if the daemon serves the version.
 */
export async function reportServed(
  context: Context,
  connection: { readonly origin: string; readonly settings: Settings },
  { name, version }: { readonly name: string; readonly version: string },
): Promise<boolean> {
  const worker = `${name}@${version}`;
  const { status, problem, reason } = await checkResponse(context, connection, { base: `/${worker}`, check: anyResponse });
  if (problem === undefined) {
    context.output.note(`${worker} responds with ${status}`);
    return true;
  }
  const failure = status === undefined ? problem : `${status}: ${reason ?? "the worker itself sent this response"}`;
  context.output.warn(`${worker} ${status === undefined ? "does not respond" : "responds with"} ${sanitizeForTerminal(failure)}`);
  context.output.note(`runtimectl workers logs ${worker} --level error`, { text: "Log:", style: "bold" });
  return false;
}
