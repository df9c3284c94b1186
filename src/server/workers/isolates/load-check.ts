import type { Log } from "../../log/log.js";
import { findEntrypoint } from "../engine/entrypoint.js";
import { IsolateStarter, type IsolateStarterOptions } from "./isolate-starter.js";
import { WorkerOutput } from "../logs/worker-output.js";
import type { WorkerLogs } from "../logs/worker-logs.js";

/** Loads a version's code once, aside, without a request. Throws WORKER_START_FAILED when that cannot be done; what it said is in its log. */
export async function checkLoads(
  options: Omit<IsolateStarterOptions, "entrypoint"> & { readonly logs: WorkerLogs; readonly log: Log },
): Promise<void> {
  const entrypoint = await findEntrypoint(options.version);
  if (entrypoint.kind === "static") return;
  const { name, version } = options.version;
  const output = new WorkerOutput({ logs: options.logs, log: options.log.child({ worker: name, version }), name, version });
  const events = {
    onRoom: () => {},
    onExit: () => {},
    onOutput: output.app.bind(output),
    onNotice: output.runtime.bind(output),
  };
  const isolate = await new IsolateStarter({ ...options, entrypoint }).start(events, () => true);
  void isolate.terminate();
}
