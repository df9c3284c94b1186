import type { IncomingMessage } from "node:http";
import type { Log } from "../log/log.js";
import { installRequest, LazyRequest } from "../web/lazy-request.js";
import { RequestHeads } from "../web/request-heads.js";
import type { HostTarget, HttpExchange } from "../web/http-exchange.js";
import { AppFinder } from "./public-routes.js";
import { RequestPipeline, type PipelineContext } from "./request-pipeline.js";
import type { PluginSet } from "./plugin-set.js";
import { ReservedPaths } from "../web/reserved-paths.js";
import { PluginRequest } from "./plugin-request.js";
import type { WorkerManifest } from "../../shared/worker-manifest.js";
import type { ActivePlugin } from "./plugin-instance.js";

interface PluginRouterOptions {
  /** Returns the current plugin set. The router calls this function once for each request. */
  readonly set: () => PluginSet;
  readonly workers: WorkersPort;
  /** Base path of the API, such as `/api`. */
  readonly apiBase: string;
  /**
   * Returns whether the caller sent a valid key in a header. The router calls this function only for a request with the header `X-API-Key`
   * or `Authorization`.
   */
  readonly isHeaderCaller: (request: IncomingMessage) => boolean;
  /** Returns whether a bearer token is an API key of this daemon. The daemon removes such a token from the requests to plugins. */
  readonly isOurKey: (token: string) => boolean;
  /** Maximum size of a request body that plugins can read. */
  readonly maximumBodyBytes: number;
  /** Called after an `onRequest` hook has rejected a request. */
  readonly onRejected: PipelineContext["onRejected"];
  readonly log: Log;
}

export interface PluginRouter {
  /** Serves a request outside the API, by a plugin or a worker. */
  serve(exchange: HttpExchange): void;
  /**
   * Returns the IncomingMessage of the client. `request` is the Request that a plugin received, or a copy of this Request. The
   * IncomingMessage contains the credentials of the client.
   */
  messageOf(request: Request): IncomingMessage | undefined;
}

/**
 * Creates the router for requests outside the API. If a plugin handles requests, all requests pass through the plugin pipeline. Otherwise
 * they go directly to the workers.
 */
export function createPluginRouter(options: PluginRouterOptions): PluginRouter {
  const { set, workers } = options;
  const copies: PipelineContext["copies"] = new WeakMap();
  const host: PipelineContext = {
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
  /** Undecoded part of the path that selects the worker, such as `/app`. */
  readonly base: string;
  /** Path below `base`, without the query. Empty if the path equals `base`. */
  readonly path: string;
}

/**
 * Parts of a request target that belongs to a plugin's worker: the base path of the plugin, the path below it, and the query with its `?`.
 */
export interface PluginAppAddress {
  readonly base: string;
  readonly path: string;
  readonly query: string;
}

/** The functions of the workers that the plugin pipeline uses. */
export interface WorkersPort {
  /** Serves a request by a worker or by the panel, depending on the target or the host name of the request. */
  handle(exchange: HttpExchange): void;
  /**
   * Returns the worker version that serves a target. `host` is the target of a worker's host name, or undefined at the daemon's own host
   * names.
   */
  appAt(target: string, host: HostTarget | undefined): WorkerAt | undefined;
  /** Serves a request with the worker of a plugin. */
  handleApp(plugin: ActivePlugin, exchange: HttpExchange, address: PluginAppAddress): void;
}
