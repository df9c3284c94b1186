import type { IncomingMessage, ServerResponse } from "node:http";
import type { UpgradedConnection } from "./upgraded-connection.js";

/** One HTTP request and its response. The HTTP server passes both to the plugins and workers. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Connection of a WebSocket handshake. After a response with status 101, the worker owns the connection. */
  readonly connection?: UpgradedConnection | undefined;
  /** The worker that a host name selects. */
  readonly hostTarget?: HostTarget | undefined;
}

/** The worker that serves a host name. */
export interface HostTarget {
  /** Name of the worker, such as `app` or `@scope/app`. */
  readonly name: string;
  /** Semver range of the worker version that serves the host. Undefined for the active version. */
  readonly range: string | undefined;
}
