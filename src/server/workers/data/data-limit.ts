import type { Log } from "../../log/log.js";
import type { IsolateObserver } from "../isolates/isolate-set.js";
import type { WorkerLogs } from "../logs/worker-logs.js";
import type { DataFolder } from "./data-folder.js";
import type { DiskUsage } from "./disk-usage.js";
import { formatSize } from "../../../shared/size.js";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";

/** Returns why the operator's limit rejects a manifest; undefined when it is accepted. */
export function dataRefusal(
  { data }: Pick<WorkerManifest, "data">,
  { workerDataMaxBytes }: { workerDataMaxBytes: number },
): string | undefined {
  if (data === undefined || data <= workerDataMaxBytes) return undefined;
  return `The manifest requests ${formatSize(data)} of data, and this server allows ${formatSize(workerDataMaxBytes)}. The operator can raise RUNTIME_WORKER_DATA_MAX.`;
}

interface QuotaReport {
  readonly logs: WorkerLogs;
  readonly log: Log;
  readonly observer?: IsolateObserver | undefined;
  /** The active version. */
  readonly version: string;
}

/** Logs that a data folder became full, or writable again. */
export function reportQuota(
  { logs, log, observer, version }: QuotaReport,
  { name, limitBytes, isFull }: Pick<DataFolder, "name" | "limitBytes" | "isFull">,
  { bytes }: DiskUsage,
): void {
  const text = isFull
    ? `DATA_QUOTA_EXCEEDED: the data folder ${usedText(bytes)}, and its limit is ${formatSize(limitBytes)}. The worker can only read and delete in it until files are deleted or a version with a larger \`data\` is installed.`
    : `The data folder is writable again: it ${usedText(bytes)} of ${formatSize(limitBytes)}.`;
  logs.write({ name, version, level: isFull ? "error" : "info", source: "runtime", text });
  log.warn({ worker: name, usedBytes: bytes, limitBytes }, text);
  if (isFull) observer?.troubled({ name, version, kind: "data-full", message: text });
}

function usedText(bytes: number): string {
  return Number.isFinite(bytes) ? `uses ${formatSize(bytes)}` : "contains folders that the daemon cannot read";
}
