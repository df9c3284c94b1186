import { disable, enable } from "../../../shared/contract/worker-changes.js";
import { toPathSegments } from "../../../shared/package-name.js";
import type { Context } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { parseVersionReference } from "../../command/package-reference.js";
import { reportServed } from "./report-served.js";

/** Enables or disables a worker version such as `hello@1.2.0` and reports its new state. */
export async function toggleVersion(context: Context, reference: string, verb: "enable" | "disable"): Promise<void> {
  const { name, version } = parseVersionReference(reference);
  const connection = await connect(context, { workers: { enable, disable } });
  const { data } = await connection.client.workers[verb]({ params: { ...toPathSegments(name), version } });
  context.output.note(`${data.name}@${data.version} is ${data.enabled ? "enabled" : "disabled"}`);
  if (data.enabled && !(await reportServed(context, connection, data))) context.output.undo(`runtimectl workers disable ${reference}`);
  context.output.result(data);
}
