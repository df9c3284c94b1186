import { randomUUID } from "node:crypto";
import { ApiError } from "../../../shared/api-error.js";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";
import { createInternalExchange } from "./internal-exchange.js";
import type { ServedVersion, VersionHandler } from "./version-handler.js";
import { addressOfTarget } from "./worker-address.js";

/** Maximum time in ms until the response to the check begins. If `timeout` in the manifest is shorter, `timeout` is the maximum. */
const longestCheckTimeoutMs = 30_000;
/** `ttl` of the isolate that runs a check, in ms. With `ttl: 0` of a manifest, each request of the check would start a new isolate. */
const checkTtlMs = 60_000;
/** Number of newest log lines in the error, and the maximum length of these lines in characters. */
const shownLogLines = 20;
const longestLogLine = 500;
/** Matches lines that V8 writes when the memory is full: statistics, and stack frames with paths of the daemon's machine. */
const nativeTrace = /^(?:<---|-----|\s*\d+: 0x|\[\d+:0x)/;
/** Errors whose cause is the daemon and not the package. */
const daemonErrors: ReadonlySet<string> = new Set(["WORKER_POOL_SATURATED", "INSUFFICIENT_STORAGE", "INTERNAL_ERROR"]);

/** Receives the output and the errors of a version while the daemon checks it. */
export interface CheckObserver {
  readonly onOutput: (text: string) => void;
  readonly onFailure: (error: ApiError) => void;
}

/**
 * Loads a version in a separate isolate and requests the path in `check` of the manifest: the status must be 200 to 399. Without `check`,
 * `GET /` must return below 500. Throws WORKER_START_FAILED or WORKER_CHECK_FAILED with `details.log`.
 */
export async function checkVersion(
  version: ServedVersion,
  open: (version: ServedVersion, observer: CheckObserver) => Promise<VersionHandler>,
): Promise<void> {
  const log: string[] = [];
  let failure: ApiError | undefined;
  const observer = {
    onOutput: (text: string) => {
      const lines = text.split("\n").filter((line) => !nativeTrace.test(line));
      log.push(...lines.map((line) => (line.length > longestLogLine ? `${line.slice(0, longestLogLine)}…` : line)));
      log.splice(0, log.length - shownLogLines);
    },
    onFailure: (error: ApiError) => (failure = error),
  };
  const { check: path = "/" } = version.manifest;
  const handler = await open({ ...version, manifest: checkedManifest(version.manifest) }, observer);
  try {
    const status = await statusOf(handler, version.name, path);
    if (failure?.code === "WORKER_START_FAILED") throw withLog(failure, log);
    if (failure && daemonErrors.has(failure.code)) throw failure;
    const isPassed = version.manifest.check === undefined ? status < 500 : status >= 200 && status < 400;
    if (isPassed) return;
    const reason = failure ? failure.message : `The response has the status ${status}.`;
    throw withLog(new ApiError("WORKER_CHECK_FAILED", `GET ${path} failed. ${reason}`), log);
  } finally {
    void handler.retire(undefined);
  }
}

function checkedManifest(manifest: WorkerManifest): WorkerManifest {
  const { timeout, ttl } = manifest;
  return { ...manifest, accessLog: false, instances: 1, ttl: ttl || checkTtlMs, timeout: Math.min(timeout, longestCheckTimeoutMs) };
}

/** Resolves with the status when the response begins. Discards the rest of the response. */
async function statusOf(handler: VersionHandler, name: string, target: string): Promise<number> {
  const address = addressOfTarget(name, target);
  return new Promise((resolve) => {
    const { request, response, answered } = createInternalExchange("GET", (bytes) => {
      resolve(Number(/^HTTP\/1\.1 (\d{3}) /.exec(bytes.toString("latin1", 0, 16))?.[1] ?? 500));
      // Destroys the response, because it can be endless. Waits for the next turn of the event loop, because the writer still uses the
      // response.
      setImmediate(() => response.destroy());
    });
    void answered.then(resolve);
    handler.handle({ request, response, requestId: randomUUID(), address, upgrade: undefined, cron: undefined });
  });
}

function withLog(error: ApiError, log: readonly string[]): ApiError {
  return new ApiError(error.code, error.message, { cause: error.cause, details: { log } });
}
