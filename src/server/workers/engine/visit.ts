import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServedVersion } from "./version-handler.js";
import type { ClientUpgrade } from "../sockets/client-upgrade.js";
import type { WorkerPath } from "./worker-address.js";

/** A client's request that is meant for a worker. */
export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly address: WorkerPath;
  /** Set when the client wants to go on with WebSocket. */
  readonly upgrade: ClientUpgrade | undefined;
  /** Finds the version that answers, where no name leads to it: the app of a plugin. */
  readonly resolve?: (() => ServedVersion | undefined) | undefined;
  /** The schedule that it is a call of; no client has a part in it. */
  readonly cron: string | undefined;
}
