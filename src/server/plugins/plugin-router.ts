import type { IncomingMessage } from "node:http";
import type { Log } from "../log/log.js";
import { installRequest, LazyRequest } from "../web/lazy-request.js";
import { RequestHeads } from "../web/request-heads.js";
import type { HostTarget, HttpExchange } from "../web/http-exchange.js";
import { AppFinder } from "./public-routes.js";
import { RequestPipeline, type PassageHost } from "./request-pipeline.js";
import type { PluginSet } from "./plugin-set.js";
import { ReservedPaths } from "../web/reserved-paths.js";
import { PluginRequest } from "./plugin-request.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";
import type { ActivePlugin } from "./plugin-instance.js";

interface PluginRouterOptions {
  /** Returns the current plugin set. Called once for each request. */
  readonly set: () => PluginSet;
  readonly workers: WorkersPort;
  /** Base path of the API, such as `/api`. */
  readonly apiBase: string;
  /** Returns whether a request has a valid key in a header. Called only for a request with the header `X-API-Key` or `Authorization`. */
  readonly isHeaderCaller: (request: IncomingMessage) => boolean;
  /** Returns whether a bearer token is an API key of this daemon. Plugins never receive such tokens. */
  readonly isOurKey: (token: string) => boolean;
  /** Maximum size of a request body that plugins can read. */
  readonly maximumBodyBytes: number;
  /** Called when an `onRequest` hook rejected a request. */
  readonly onRejected: PassageHost["onRejected"];
  readonly log: Log;
}

export interface PluginRouter {
  /** Serves a request outside the API, by a plugin or a worker. */
  serve(exchange: HttpExchange): void;
  /** Returns the client's message, including credentials, for a request that a plugin received, or for a copy of that request. */
  messageOf(request: Request): IncomingMessage | undefined;
}

/**
 * Creates the router for requests outside the API. Requests pass through the plugin pipeline, or go directly to the workers if no plugin
 * handles requests.
 */
export function createPluginRouter(options: PluginRouterOptions): PluginRouter {
  const { set, workers } = options;
  const copies: PassageHost["copies"] = new WeakMap();
  const host: PassageHost = {
    workers,
    copies,
    heads: new RequestHeads({ isOurKey: options.isOurKey }),
    apps: new AppFinder(workers),
    reserved: new ReservedPaths({ apiBase: options.apiBase }),
    isHeaderCaller: options.isHeaderCaller,
    maximumBodyBytes: options.maximumBodyBytes,
    onRejected: options.onRejected,
    log: options.log,
  };
  let isInstalled = false;
  return {
    serve(exchange) {
      const plugins = set();
      if (plugins.isTransparent) return workers.handle(exchange);
      if (!isInstalled) installRequest();
      isInstalled = true;
      new RequestPipeline(host, plugins, exchange).begin();
    },
    messageOf(request) {
      const origin = LazyRequest.isLazy(request) ? LazyRequest.originOf(request) : undefined;
      return origin instanceof PluginRequest ? origin.original : copies.get(request);
    },
  };
}

/** The worker version that serves a request target, with the parts of the path. */
export interface WorkerAt {
  readonly version: {
    readonly name: string;
    readonly version: string;
    readonly manifest: Pick<WorkerManifest, "publicRoutes" | "visibility">;
  };
  /** Part of the path that selects the worker, such as `/app`, not decoded. */
  readonly base: string;
  /** Path below `base`, without the query. Empty if the path equals `base`. */
  readonly path: string;
}

/** Parts of a request target for a plugin's worker: the plugin's base path, the path below it, and the query with its `?`. */
export interface PluginAppAddress {
  readonly base: string;
  readonly path: string;
  readonly query: string;
}

/** The functions of the workers that the plugin pipeline uses. */
export interface WorkersPort {
  /** Serves a request by the worker, or by the panel, that its target or host name selects. */
  handle(exchange: HttpExchange): void;
  /** Returns the worker version that serves a target at a worker's host name, or at the daemon's own host names. */
  appAt(target: string, host: HostTarget | undefined): WorkerAt | undefined;
  /** Serves a request with the worker of a plugin. */
  handleApp(plugin: ActivePlugin, exchange: HttpExchange, address: PluginAppAddress): void;
}
