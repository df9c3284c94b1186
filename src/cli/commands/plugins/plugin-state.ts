import { ApiError } from "../../../shared/api-error.js";
import { list, disable, enable, type Plugin } from "../../../shared/contract/plugins.js";
import type { Context } from "../../command/command.js";
import { connect, type Connection } from "../../client/connection.js";
import { exitCodes, type ExitCode } from "../../command/exit-codes.js";
import { parsePluginName } from "../../command/package-reference.js";

type PluginState = Pick<Plugin, "status" | "error">;

/** Returns the state of a plugin after a change. Undefined if the key lacks the permission plugins:read. */
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

/** Returns the exit code of a command that changed a plugin. If the plugin failed to load, prints a warning and returns 1. */
export function reportLoadFailure({ output }: Context, what: string, state: PluginState | undefined): ExitCode {
  if (state?.status !== "failed") return exitCodes.ok;
  output.warn(`${what}, but failed to load: ${state.error ?? "see the daemon's log"}`);
  return exitCodes.failed;
}

/** Enables or disables a plugin and reports its new state. */
export async function togglePlugin(context: Context, text: string, verb: "enable" | "disable"): Promise<ExitCode> {
  const name = parsePluginName(text);
  const connection = await connect(context, { plugins: { list, enable, disable } });
  const { data } = await connection.client.plugins[verb]({ params: { name } });
  const state = await pluginState(connection, name);
  context.output.note(`${name} is ${data.enabled ? "enabled" : "disabled"}`);
  context.output.result({ ...data, status: state?.status ?? null, ...(state?.error === undefined ? {} : { error: state.error }) });
  return verb === "enable" ? reportLoadFailure(context, `${name} is enabled`, state) : exitCodes.ok;
}
