import type { IncomingMessage, ServerResponse } from "node:http";
import type { UpgradedConnection } from "./upgraded-connection.js";

/** One HTTP request and its response, as the HTTP server passes them to the plugins and to the workers. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** The connection of a WebSocket handshake; a 101 response takes it over. */
  readonly connection?: UpgradedConnection | undefined;
  /** The worker whose host the Host header names; undefined at the daemon's own hosts, where the path names the worker. */
  readonly hostTarget?: HostTarget | undefined;
}

/** The worker that serves a host name. */
export interface HostTarget {
  /** `app` or `@scope/app`. */
  readonly name: string;
  /** Semver range of the version that serves the host; undefined for the active version. */
  readonly range: string | undefined;
}
