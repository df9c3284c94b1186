/**
 * The plugin API, which plugins import from "runtimectl/plugin". A plugin is trusted code in the daemon's process and uses the web-standard
 * `Request` and `Response`. See docs/reference/plugin-api.md.
 */
export { fromNodeHandler } from "./from-node-handler.js";

type MaybePromise<Value> = Value | Promise<Value>;

/** Owner of the API key in a request, as returned by `ctx.auth.verify`. The object never contains the key itself. */
export interface PluginPrincipal {
  /** Id of the API key. 0 is the root key. */
  readonly id: number;
  readonly name: string;
  readonly keyPrefix: string;
  readonly role: string;
  readonly permissions: readonly string[];
  readonly namespaces: readonly string[];
  readonly isRoot?: boolean | undefined;
}

/** The worker or plugin that serves the request if no hook responds to the request. */
export interface AppInfo {
  readonly kind: "worker" | "plugin";
  readonly name: string;
  readonly version: string;
  /** Part of the path that selects the worker or plugin, such as `/shop` or `/@team/shop@1`. */
  readonly base: string;
  readonly visibility: "public" | "protected" | "internal";
}

/** Logger that adds the plugin's name to each entry. Do not log secrets. */
export interface PluginLogger {
  debug(message: string, details?: Readonly<Record<string, unknown>>): void;
  info(message: string, details?: Readonly<Record<string, unknown>>): void;
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
  error(message: string, details?: Readonly<Record<string, unknown>>): void;
}

/** Monotonic counter in the response to `GET /api/metrics`, with the name `runtimed_plugin_<name>_total` and the label `plugin`. */
export interface PluginCounter {
  /**
   * Adds `count` (default 1) to the value with these labels. A counter stores at most 200 label combinations and adds further combinations
   * to a value with the label `other`. A frozen `labels` object that is used again is fastest.
   */
  add(labels?: Readonly<Record<string, string>>, count?: number): void;
}

export interface PluginContext<Config = Readonly<Record<string, unknown>>> {
  /**
   * Settings of the plugin: all manifest keys that the daemon does not define. A setting below the manifest key `config` overrides a
   * setting with the same name.
   */
  readonly config: Config;
  readonly logger: PluginLogger;
  /**
   * Returns the value that the other plugin's `provides()` returned. Returns undefined if that plugin is not loaded. The daemon loads the
   * plugins in `dependencies` first.
   */
  getPlugin(name: string): unknown;
  readonly runtime: {
    /** Base path of the API, such as `/api`. */
    readonly api: string;
    readonly version: string;
  };
  readonly auth: {
    /**
     * Returns the owner of the API key in the request's headers or session cookie, or undefined without a valid key. Plugins never receive
     * the key itself.
     */
    verify(request: Request): PluginPrincipal | undefined;
  };
  readonly metrics: {
    /**
     * Returns the plugin's counter with this name, and creates the counter at the first call. `name` contains only lower-case letters,
     * digits and underscores.
     */
    counter(name: string, help: string): PluginCounter;
  };
}

/** A process of a worker that has loaded the worker's code, or that has ended. */
export interface WorkerEvent {
  readonly name: string;
  readonly version: string;
  readonly pid: number;
}

/** Address of the daemon, which `onServerStart` receives. */
export interface ServerInfo {
  /** Origin at which the daemon listens, such as `http://127.0.0.1:8000`. */
  readonly address: string;
}

export type FetchHandler = (request: Request) => MaybePromise<Response>;

/**
 * Handles a route of `server.routes`. `params` contains the path segments for the names after a colon in the route pattern, such as `id` in
 * `/users/:id`.
 */
export type RouteHandler = (request: Request, params: Readonly<Record<string, string>>) => MaybePromise<Response>;

/**
 * A plugin, as an object with optional members. The hooks of all plugins run in the order of the plugins' dependencies. Only `onShutdown`
 * runs in reverse order.
 */
export interface Plugin<Config = Readonly<Record<string, unknown>>> {
  /**
   * Serves requests below the plugin's base path: a Hono app, or any object with `fetch`. The URL has no base path. If the response has
   * status 404, the plugin's worker or the other workers receive the request.
   */
  readonly routes?: { fetch(request: Request): MaybePromise<Response> };
  readonly server?: {
    /**
     * Receives each request whose path is outside the API and outside the base paths of other plugins. If the response has status 404, the
     * next plugin or the worker receives the request.
     */
    readonly fetch?: FetchHandler;
    /** Handlers by absolute path, such as `/exact`, `/users/:id` or `/files/*`: one handler for all methods, or one per method. */
    readonly routes?: Readonly<Record<string, RouteHandler | Readonly<Record<string, RouteHandler>>>>;
  };
  /** Initializes the plugin. If this takes more than 30 s, the plugin fails to load. */
  onInit?(context: PluginContext<Config>): MaybePromise<void>;
  /**
   * Runs before a request is served, within 10 s. Returns undefined to continue, a Request to replace the request, or a Response to respond
   * immediately.
   */
  onRequest?(request: Request, app: AppInfo | undefined): MaybePromise<Request | Response | void>;
  /**
   * Runs before a response is sent, within 10 s. Returns a replacement Response, or undefined. If the hook fails, the original response is
   * sent.
   */
  onResponse?(response: Response, app: AppInfo | undefined, request: Request): MaybePromise<Response | void>;
  /**
   * Called once for each plugin instance, when the daemon listens. If the plugin is loaded later, the daemon calls this hook after
   * `onInit`.
   */
  onServerStart?(server: ServerInfo): MaybePromise<void>;
  /** Called when the plugin is replaced or removed, when `onInit` fails, or when the daemon stops. The hook must end within 30 s. */
  onShutdown?(): MaybePromise<void>;
  onWorkerSpawn?(worker: WorkerEvent): MaybePromise<void>;
  onWorkerTerminate?(worker: WorkerEvent): MaybePromise<void>;
  /** Returns the value that `getPlugin` returns to other plugins. Called once, after `onInit`. */
  provides?(): unknown;
  /** If true, requests continue when `onRequest` fails. Otherwise the response is 503 PLUGIN_HOOK_FAILED. */
  readonly onRequestFailOpen?: boolean;
}

/** Default export of a plugin's module: a plugin, or a factory that creates a plugin from its configuration at each reload. */
export type PluginModule<Config = Readonly<Record<string, unknown>>> = Plugin<Config> | ((config: Config) => MaybePromise<Plugin<Config>>);

/** Returns its argument. The function exists only for type inference. */
export function definePlugin<Config = Readonly<Record<string, unknown>>>(plugin: PluginModule<Config>): PluginModule<Config> {
  return plugin;
}
