import { formatSize } from "../../../shared/size.js";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";

/** Returns the reason why the data limit of the operator rejects a manifest. Returns undefined if the manifest is accepted. */
export function dataRefusal(
  { data }: Pick<WorkerManifest, "data">,
  { workerDataMaxBytes }: { workerDataMaxBytes: number },
): string | undefined {
  if (data === undefined || data <= workerDataMaxBytes) return undefined;
  return `The manifest requests ${formatSize(data)} of data, and this server allows ${formatSize(workerDataMaxBytes)}. The operator can raise RUNTIME_WORKER_DATA_MAX.`;
}
