import { ApiError } from "../../../shared/api-error.js";
import type { list, Plugin } from "../../../shared/contract/plugins.js";
import type { Context } from "../../command.js";
import type { Connection } from "../../connection.js";
import { exitCodes } from "../../exit-codes.js";

export type PluginState = Pick<Plugin, "status" | "error">;

/** What became of a plugin that was just changed; undefined when the key may change but not list. */
export async function pluginState(
  { client }: Connection<{ plugins: { list: typeof list } }>,
  name: string,
): Promise<PluginState | undefined> {
  try {
    const found = (await client.plugins.list()).find((plugin) => plugin.name === name);
    return found && { status: found.status, ...(found.error === undefined ? {} : { error: found.error }) };
  } catch (error) {
    if (error instanceof ApiError && error.code === "PERMISSION_DENIED") return undefined;
    throw error;
  }
}

/** The change is made, but the plugin does not take part: a warning, and exit code 1. */
export function tellFailure({ output }: Context, what: string, state: PluginState | undefined): void {
  if (state?.status !== "failed") return;
  output.warn(`${what}, but it could not be loaded: ${state.error ?? "the daemon's log says why"}`);
  process.exitCode = exitCodes.failed;
}
