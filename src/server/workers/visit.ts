import type { IncomingMessage, ServerResponse } from "node:http";
import type { WorkerPath } from "./worker-path.js";

/** A client's request that is meant for a worker. */
export interface Visit {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly address: WorkerPath;
}
