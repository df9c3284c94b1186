import { disable, enable, list } from "../../../shared/contract/plugins.js";
import type { Context } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { exitCodes, type ExitCode } from "../../command/exit-codes.js";
import { parsePluginName } from "../../command/package-reference.js";
import { pluginState, tellFailure } from "./plugin-state.js";

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
