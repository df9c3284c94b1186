import { disable, enable } from "../../../shared/contract/worker-changes.js";
import { toPathSegments } from "../../../shared/package-name.js";
import type { Context } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { parseVersionReference } from "../../command/package-reference.js";

/** Enables or disables a worker version such as `hello@1.2.0` and reports its new state. */
export async function toggleVersion(context: Context, reference: string, verb: "enable" | "disable"): Promise<void> {
  const { name, version } = parseVersionReference(reference);
  const { client } = await connect(context, { workers: { enable, disable } });
  const { data } = await client.workers[verb]({ params: { ...toPathSegments(name), version } });
  context.output.note(`${data.name}@${data.version} is ${data.enabled ? "enabled" : "disabled"}`);
  context.output.result(data);
}
