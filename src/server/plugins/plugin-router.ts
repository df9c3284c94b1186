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
  /** Returns the current plugins; called once per request. */
  readonly set: () => PluginSet;
  readonly workers: WorkersPort;
  /** Base path of the API, such as `/api`. */
  readonly apiBase: string;
  /** Whether a request has a valid key in a header; called only if there is such a header. */
  readonly isHeaderCaller: (request: IncomingMessage) => boolean;
  /** True for a bearer token that is an API key of this daemon: such tokens are hidden from plugins. */
  readonly isOurKey: (token: string) => boolean;
  /** Maximum request body that a plugin can read. */
  readonly maximumBodyBytes: number;
  readonly log: Log;
}

export interface PluginRouter {
  /** Serves a request outside the API, by a plugin or a worker. */
  serve(exchange: HttpExchange): void;
  /** Returns the client's message, with credentials, for a request that a plugin got, or for a copy of it. */
  messageOf(request: Request): IncomingMessage | undefined;
}

/** Creates the entry point for requests: through the plugin pipeline, or directly to the workers when no plugin handles requests. */
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

/** The worker version that serves a target. */
export interface WorkerAt {
  readonly version: {
    readonly name: string;
    readonly version: string;
    readonly manifest: Pick<WorkerManifest, "publicRoutes" | "visibility">;
  };
  /** The part of the path that addresses the worker, undecoded. */
  readonly base: string;
  /** The rest of the path without the query; empty when the path is only the base. */
  readonly path: string;
}

/** Address of a plugin's worker: `base` of the plugin, `path` below it, `query` with its `?`. */
export interface PluginAppAddress {
  readonly base: string;
  readonly path: string;
  readonly query: string;
}

/** The workers, as the plugin pipeline uses them. */
export interface WorkersPort {
  /** Serves a request with any target. */
  handle(exchange: HttpExchange): void;
  /** Returns the version that serves a target at a worker's host name, or at the daemon's own host names. */
  appAt(target: string, host: HostTarget | undefined): WorkerAt | undefined;
  /** Serves a request with the worker of a plugin. */
  handleApp(plugin: ActivePlugin, exchange: HttpExchange, address: PluginAppAddress): void;
}
