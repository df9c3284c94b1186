import type { IncomingMessage, ServerResponse } from "node:http";
import type { UpgradedConnection } from "./upgraded-connection.js";

/** One HTTP request with its response, as the HTTP server passes it to the plugins and workers. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Connection of a WebSocket handshake. A response with status 101 takes over the connection. */
  readonly connection?: UpgradedConnection | undefined;
  /** The worker whose host name is in the Host header. Undefined for the daemon's own host names, where the path selects the worker. */
  readonly hostTarget?: HostTarget | undefined;
}

/** The worker that serves a host name. */
export interface HostTarget {
  /** Name of the worker, such as `app` or `@scope/app`. */
  readonly name: string;
  /** Semver range of the worker version that serves the host. Undefined for the active version. */
  readonly range: string | undefined;
}
