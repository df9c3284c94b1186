/**
 * The plugin API: `import { definePlugin } from "runtimectl/plugin"`. Plugins are trusted code in the daemon's process and use the
 * web-standard `Request` and `Response`. docs/reference/plugin-api.md has examples.
 */
export { fromNodeHandler } from "./from-node-handler.js";

type MaybePromise<Value> = Value | Promise<Value>;

/** The owner of a request's API key, as `ctx.auth.verify` returns it; never contains the key itself. */
export interface PluginPrincipal {
  /** Key id; 0 = the root key. */
  readonly id: number;
  readonly name: string;
  readonly keyPrefix: string;
  readonly role: string;
  readonly permissions: readonly string[];
  readonly namespaces: readonly string[];
  readonly isRoot?: boolean | undefined;
}

/** The worker or plugin that serves a request unless a hook responds. */
export interface AppInfo {
  readonly kind: "worker" | "plugin";
  readonly name: string;
  readonly version: string;
  /** The part of the path that addresses the worker or plugin, such as `/shop` or `/@team/shop@1`. */
  readonly base: string;
  readonly visibility: "public" | "protected" | "internal";
}

/** A logger that adds the plugin's name. Do not log secrets. */
export interface PluginLogger {
  debug(message: string, details?: Readonly<Record<string, unknown>>): void;
  info(message: string, details?: Readonly<Record<string, unknown>>): void;
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
  error(message: string, details?: Readonly<Record<string, unknown>>): void;
}

/** A monotonic counter in `GET /api/metrics`, named `runtimed_plugin_<name>_total`, with the label `plugin`. */
export interface PluginCounter {
  /**
   * Adds `count` (default 1). `labels` are label values; a counter keeps at most 200 combinations and counts further ones as `other`. A
   * reused frozen object is fastest.
   */
  add(labels?: Readonly<Record<string, string>>, count?: number): void;
}

export interface PluginContext<Config = Readonly<Record<string, unknown>>> {
  /** The manifest keys that the daemon does not define, overridden by the keys below `config`. */
  readonly config: Config;
  readonly logger: PluginLogger;
  /** Returns the value of another plugin's `provides()`; undefined when that plugin is not loaded. Declared dependencies load first. */
  getPlugin(name: string): unknown;
  readonly runtime: {
    /** The base path of the API, such as `/api`. */
    readonly api: string;
    readonly version: string;
  };
  readonly auth: {
    /**
     * Returns the owner of the request's API key, from a header or the session cookie; undefined without a valid key. Plugins never see the
     * key itself.
     */
    verify(request: Request): PluginPrincipal | undefined;
  };
  readonly metrics: {
    /** Returns a counter; the same name returns the same counter. Names have lower-case letters, digits and underscores. */
    counter(name: string, help: string): PluginCounter;
  };
}

/** A worker process that has loaded its worker, or has ended. */
export interface WorkerEvent {
  readonly name: string;
  readonly version: string;
  readonly pid: number;
}

/** The origin at which the daemon listens. */
export interface ServerInfo {
  /** Origin such as `http://127.0.0.1:8000`. */
  readonly address: string;
}

export type FetchHandler = (request: Request) => MaybePromise<Response>;

/** A handler of `server.routes`; `params` has the path segments that the pattern names with a colon. */
export type RouteHandler = (request: Request, params: Readonly<Record<string, string>>) => MaybePromise<Response>;

/** A plugin; all members are optional. Hooks run in dependency order, `onShutdown` in reverse. */
export interface Plugin<Config = Readonly<Record<string, unknown>>> {
  /**
   * Serves requests below the plugin's base, with the base removed from the path: a Hono app, or any object with `fetch`. A 404 passes the
   * request on.
   */
  readonly routes?: { fetch(request: Request): MaybePromise<Response> };
  readonly server?: {
    /** Receives each request outside of the API and of other plugins' bases. A 404 passes the request on. */
    readonly fetch?: FetchHandler;
    /** Handlers by absolute path, such as `/exact`, `/users/:id`, `/files/*`: one for all methods, or one per method. */
    readonly routes?: Readonly<Record<string, RouteHandler | Readonly<Record<string, RouteHandler>>>>;
  };
  /** Initializes the plugin within 30 s; otherwise the plugin fails to load. */
  onInit?(context: PluginContext<Config>): MaybePromise<void>;
  /**
   * Runs before a request is served, within 10 s. Returns undefined to continue, a Request to replace the request, or a Response to end it.
   */
  onRequest?(request: Request, app: AppInfo | undefined): MaybePromise<Request | Response | void>;
  /** Returns a replacement Response, or undefined, within 10 s. If the hook fails, the original response is sent. */
  onResponse?(response: Response, app: AppInfo | undefined, request: Request): MaybePromise<Response | void>;
  /** Called once per instance after the daemon has started to listen, also for plugins that load later. */
  onServerStart?(server: ServerInfo): MaybePromise<void>;
  /** Called when the plugin is replaced or removed, when its `onInit` failed, or when the daemon stops. Within 30 s. */
  onShutdown?(): MaybePromise<void>;
  onWorkerSpawn?(worker: WorkerEvent): MaybePromise<void>;
  onWorkerTerminate?(worker: WorkerEvent): MaybePromise<void>;
  /** Returns the value of `getPlugin` for dependent plugins; called once, after `onInit`. */
  provides?(): unknown;
  /** If true, requests continue when `onRequest` fails. Otherwise the response is 503 PLUGIN_HOOK_FAILED. */
  readonly onRequestFailOpen?: boolean;
}

/** A module's default export: a plugin, or a factory that creates one from its configuration at each reload. */
export type PluginModule<Config = Readonly<Record<string, unknown>>> = Plugin<Config> | ((config: Config) => MaybePromise<Plugin<Config>>);

/** Returns its argument; exists for type inference. */
export function definePlugin<Config = Readonly<Record<string, unknown>>>(plugin: PluginModule<Config>): PluginModule<Config> {
  return plugin;
}
