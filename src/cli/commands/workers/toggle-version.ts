import { disable, enable } from "../../../shared/contract/worker-changes.js";
import { list } from "../../../shared/contract/workers.js";
import { toPathSegments } from "../../../shared/package-name.js";
import type { Context } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { parsePackageReference, parseVersionReference } from "../../command/package-reference.js";
import { findWorker } from "./installed-worker.js";
import { reportServed } from "./report-served.js";

/** Enables or disables a worker version such as `hello@1.2.0` and reports its new state. */
export async function toggleVersion(context: Context, reference: string, verb: "enable" | "disable"): Promise<void> {
  const connection = await connect(context, { workers: { list, enable, disable } });
  const given = parsePackageReference(reference);
  const { name, version } = parseVersionReference(reference, given.version ? [] : (await findWorker(connection, given.name)).versions);
  const { data } = await connection.client.workers[verb]({ params: { ...toPathSegments(name), version } });
  context.output.note(`${data.name}@${data.version} is ${data.enabled ? "enabled" : "disabled"}`);
  if (data.enabled && !(await reportServed(context, connection, data))) context.output.undo(`runtimectl workers disable ${reference}`);
  context.output.result(data);
}
