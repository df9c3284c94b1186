import { formatSize } from "../../../shared/size.js";
import type { WorkerEngineOptions } from "../engine/worker-engine-options.js";
import type { DataFolder } from "./data-folder.js";
import type { DiskUsage } from "./disk-usage.js";
import { WorkerStorage } from "./worker-storage.js";

/**
 * Creates the storage for the workers of an engine. `restart` replaces the isolates of a worker after its data folder has become full or
 * writable again.
 */
export function createWorkerStorage(options: WorkerEngineOptions, restart: (name: string) => void): WorkerStorage {
  return new WorkerStorage({
    directory: options.dataDirectory,
    temporaryFolderMaxBytes: options.limits.workerTemporaryMaxBytes,
    onQuota: (data, usage) => {
      reportQuota(options, data, usage);
      restart(data.name);
    },
    onError: (error) => options.log.error({ err: error }, "the sizes of worker folders could not be measured"),
  });
}

/** Logs that a data folder has become full or writable again. */
function reportQuota(
  { logs, log, observer, resolve }: WorkerEngineOptions,
  { name, limitBytes, isFull }: Pick<DataFolder, "name" | "limitBytes" | "isFull">,
  { bytes }: DiskUsage,
): void {
  const version = resolve(name, undefined)?.version ?? "";
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
