/**
 * What the author of a plugin imports: `import { definePlugin } from "runtimectl/plugin"`. A plugin is trusted code in the daemon's
 * process; its handlers are of the web's standards (`Request`, `Response`). docs/reference/plugin-api.md has an example for each part.
 */
export { fromNodeHandler } from "./from-node-handler.js";

type MaybePromise<Value> = Value | Promise<Value>;

/** Who sent a request, as `ctx.auth.verify` tells; never the key itself. */
export interface PluginPrincipal {
  /** 0 = the root key. */
  readonly id: number;
  readonly name: string;
  readonly keyPrefix: string;
  readonly role: string;
  readonly permissions: readonly string[];
  readonly namespaces: readonly string[];
  readonly isRoot?: boolean | undefined;
}

/** What would answer a request if no hook did. */
export interface AppInfo {
  readonly kind: "worker" | "plugin";
  readonly name: string;
  readonly version: string;
  /** The part of the path that addresses it, such as `/shop` or `/@team/shop@1`. */
  readonly base: string;
  readonly visibility: "public" | "protected" | "internal";
}

/** A log that carries the plugin's name; secrets do not belong into it. */
export interface PluginLogger {
  debug(message: string, details?: Readonly<Record<string, unknown>>): void;
  info(message: string, details?: Readonly<Record<string, unknown>>): void;
  warn(message: string, details?: Readonly<Record<string, unknown>>): void;
  error(message: string, details?: Readonly<Record<string, unknown>>): void;
}

/** A number that only grows, shown in `GET /api/metrics` as `runtimed_plugin_<name>_total` with the label `plugin`. */
export interface PluginCounter {
  /**
   * Values of the counter's labels; a counter keeps at most 200 combinations and counts further ones as `other`. A frozen object that is
   * used again is the fastest.
   */
  add(labels?: Readonly<Record<string, string>>, count?: number): void;
}

export interface PluginContext<Config = Readonly<Record<string, unknown>>> {
  /** The keys of the manifest that are not the runtime's own, and those below its key `config`, which win. */
  readonly config: Config;
  readonly logger: PluginLogger;
  /** What another plugin's `provides()` returned; undefined when that plugin is not loaded. A declared dependency is loaded first. */
  getPlugin(name: string): unknown;
  readonly runtime: {
    /** The base path of the API, such as `/api`. */
    readonly api: string;
    readonly version: string;
  };
  readonly auth: {
    /** Whose key a request carried, in a header or a cookie; plugins themselves never see it. */
    verify(request: Request): PluginPrincipal | undefined;
  };
  readonly metrics: {
    /** Lower-case letters, digits and underscores; the same name gives the same counter. */
    counter(name: string, help: string): PluginCounter;
  };
}

/** A process of a worker that got its app, or ended. */
export interface WorkerEvent {
  readonly name: string;
  readonly version: string;
  readonly pid: number;
}

/** The daemon has begun to listen. */
export interface ServerInfo {
  /** Such as `http://127.0.0.1:8000`. */
  readonly address: string;
}

export type FetchHandler = (request: Request) => MaybePromise<Response>;

/** A handler of `server.routes`; parts of the path that the pattern names with a colon are in `params`. */
export type RouteHandler = (request: Request, params: Readonly<Record<string, string>>) => MaybePromise<Response>;

/** Everything is optional. Hooks run in the order of dependencies; `onShutdown` in reverse. */
export interface Plugin<Config = Readonly<Record<string, unknown>>> {
  /** Answers below the plugin's base, which is taken off the path: a Hono app, or anything with `fetch`. 404 lets the next one try. */
  readonly routes?: { fetch(request: Request): MaybePromise<Response> };
  readonly server?: {
    /** Sees each request that is neither the API's nor below another plugin's base; 404 = not mine. */
    readonly fetch?: FetchHandler;
    /** By absolute path: `/exact`, `/users/:id`, `/files/*`; a handler, or handlers by method. */
    readonly routes?: Readonly<Record<string, RouteHandler | Readonly<Record<string, RouteHandler>>>>;
  };
  /** Within 30 s, else the plugin is left out. */
  onInit?(context: PluginContext<Config>): MaybePromise<void>;
  /** Nothing: go on. A Request: go on with that one. A Response: this is the answer. Within 10 s. */
  onRequest?(request: Request, app: AppInfo | undefined): MaybePromise<Request | Response | void>;
  /** Another Response to send in its place, or nothing. Within 10 s; when it fails the answer is sent as it was. */
  onResponse?(response: Response, app: AppInfo | undefined, request: Request): MaybePromise<Response | void>;
  /** Once for each instance: the daemon listens, or has done so for a while when the plugin comes later. */
  onServerStart?(server: ServerInfo): MaybePromise<void>;
  /** The plugin was replaced or removed, its `onInit` failed, or the daemon stops. Within 30 s. */
  onShutdown?(): MaybePromise<void>;
  onWorkerSpawn?(worker: WorkerEvent): MaybePromise<void>;
  onWorkerTerminate?(worker: WorkerEvent): MaybePromise<void>;
  /** What `getPlugin` gives to plugins that depend on this one; asked once, after `onInit`. */
  provides?(): unknown;
  /** When `onRequest` fails, go on as if it were not there; else the answer is 503 PLUGIN_HOOK_FAILED. */
  readonly onRequestFailOpen?: boolean;
}

/** A module's default export: a plugin, or what makes one from its configuration, again for each reload. */
export type PluginModule<Config = Readonly<Record<string, unknown>>> = Plugin<Config> | ((config: Config) => MaybePromise<Plugin<Config>>);

/** Gives a plugin its type; does nothing else. */
export function definePlugin<Config = Readonly<Record<string, unknown>>>(plugin: PluginModule<Config>): PluginModule<Config> {
  return plugin;
}
