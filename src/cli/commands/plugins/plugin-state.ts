import { ApiError } from "../../../shared/api-error.js";
import { list, disable, enable, type Plugin } from "../../../shared/contract/plugins.js";
import type { Context } from "../../command/command.js";
import { connect, type Connection } from "../../client/connection.js";
import { exitCodes, type ExitCode } from "../../command/exit-codes.js";
import { parsePluginName } from "../../command/package-reference.js";

type PluginState = Pick<Plugin, "status" | "error">;

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

/** The exit code of a change after which the plugin may have failed to load: then 1, with a warning. */
export function tellFailure({ output }: Context, what: string, state: PluginState | undefined): ExitCode {
  if (state?.status !== "failed") return exitCodes.ok;
  output.warn(`${what}, but it could not be loaded: ${state.error ?? "the daemon's log says why"}`);
  return exitCodes.failed;
}

/** Enables or disables a plugin, and says what became of it. */
export async function togglePlugin(context: Context, text: string, verb: "enable" | "disable"): Promise<ExitCode> {
  const name = parsePluginName(text);
  const connection = await connect(context, { plugins: { list, enable, disable } });
  const { data } = await connection.client.plugins[verb]({ params: { name } });
  const state = await pluginState(connection, name);
  context.output.note(`${name} is ${data.enabled ? "on" : "off"}`);
  context.output.result({ ...data, status: state?.status ?? null, ...(state?.error === undefined ? {} : { error: state.error }) });
  return verb === "enable" ? tellFailure(context, `${name} is on`, state) : exitCodes.ok;
}
