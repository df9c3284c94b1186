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
  /** The plugins at work now; asked once for each request. */
  readonly set: () => PluginSet;
  readonly workers: WorkersPort;
  /** Base path of the API, such as `/api`. */
  readonly apiBase: string;
  /** Whether a request carries a key that counts, in a header; only asked when there is such a header. */
  readonly isHeaderCaller: (request: IncomingMessage) => boolean;
  /** True for a bearer token that is a key of ours: plugins never see one. */
  readonly isOurKey: (token: string) => boolean;
  /** The most that a plugin may read of a request's body. */
  readonly maximumBodyBytes: number;
  readonly log: Log;
}

export interface PluginRouter {
  /** Answers what is not the API's: with a plugin, or with what the workers have. */
  serve(exchange: HttpExchange): void;
  /** What the client sent for a request that a plugin was given, or for a copy of that; it has the credentials. */
  messageOf(request: Request): IncomingMessage | undefined;
}

/** The way in for served requests: past the plugins, or straight to the workers when no plugin has a part in it. */
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

/** The version of a worker that would answer for a target. */
export interface WorkerAt {
  readonly version: {
    readonly name: string;
    readonly version: string;
    readonly manifest: Pick<WorkerManifest, "publicRoutes" | "visibility">;
  };
  /** The part of the path that addresses it, as it was sent. */
  readonly base: string;
  /** What is left of the path without the query; empty when only the base was asked for. */
  readonly path: string;
}

/** Where the app of a plugin serves: `base` is the plugin's, `path` is below it, `query` has its `?`. */
export interface PluginAppAddress {
  readonly base: string;
  readonly path: string;
  readonly query: string;
}

/** What plugins need of the workers. */
export interface WorkersPort {
  /** Responds to a request, whatever its target. */
  handle(exchange: HttpExchange): void;
  /** The version that would respond to a target at a worker's host, or at the daemon's own hosts. */
  appAt(target: string, host: HostTarget | undefined): WorkerAt | undefined;
  /** Responds with the app that a plugin contains. */
  handleApp(plugin: ActivePlugin, exchange: HttpExchange, address: PluginAppAddress): void;
}
