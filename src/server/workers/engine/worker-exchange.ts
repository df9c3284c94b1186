import type { IncomingMessage, ServerResponse } from "node:http";
import type { ApiError } from "../../../shared/api-error.js";
import type { WorkerManifest } from "../../../shared/worker-manifest.js";
import { upgradeLines, type RequestHeads } from "../../web/request-heads.js";
import type { ServedVersion } from "./version-handler.js";
import type { ClientUpgrade } from "../sockets/client-upgrade.js";
import type { WorkerPath } from "./worker-address.js";

/** One request to a worker and its response. A client or a cron job has sent the request. */
export interface WorkerExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly address: WorkerPath;
  /** The WebSocket upgrade that the client requested; undefined for other requests. */
  readonly upgrade: ClientUpgrade | undefined;
  /** Returns the version of a worker without its own name, such as the worker of a plugin. */
  readonly resolve?: (() => ServedVersion | undefined) | undefined;
  /** The cron job that sent this request; undefined for requests of clients. */
  readonly cron: CronRequest | undefined;
}

/** A request of a cron job. */
interface CronRequest {
  readonly schedule: string;
  /** Called if the daemon responds with an error in place of the worker, or ends the worker's response early. */
  readonly onError: (error: ApiError) => void;
}

/**
 * Returns the request head that the isolate receives, with the path in the form that the manifest selects. Undefined if the Host header
 * cannot be part of a URL.
 */
export function writeWorkerHead(
  heads: RequestHeads,
  { request, requestId, address, upgrade, cron }: WorkerExchange,
  pathForm: WorkerManifest["path"],
): string | undefined {
  const { base, query } = address;
  const path = (pathForm === "full" ? base : "") + address.path + query;
  const head = heads.write(request, { base, path, requestId });
  if (head === undefined) return undefined;
  if (cron !== undefined) return `${head}\nx-cron\n${cron.schedule}`;
  return upgrade ? head + upgradeLines : head;
}
