import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServedVersion } from "./version-handler.js";
import type { ClientUpgrade } from "../sockets/client-upgrade.js";
import type { WorkerPath } from "./worker-address.js";

/** A request to a worker, from a client or from a cron job. */
export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly address: WorkerPath;
  /** Set when the client requests a WebSocket upgrade. */
  readonly upgrade: ClientUpgrade | undefined;
  /** Returns the version to serve when no name leads to it: the worker of a plugin. */
  readonly resolve?: (() => ServedVersion | undefined) | undefined;
  /** The schedule of the cron job that sends this request; undefined for client requests. */
  readonly cron: string | undefined;
}
