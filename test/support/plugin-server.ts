import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Plugin } from "../../src/plugin/index.js";
import { createHttpServer } from "../../src/server/http/server.js";
import { HookFailures } from "../../src/server/plugins/hooks.js";
import type { ActivePlugin } from "../../src/server/plugins/plugin-instance.js";
import { createPluginRouter, type PluginRouter, type PluginAppAddress } from "../../src/server/plugins/plugin-router.js";
import type { HttpExchange } from "../../src/server/web/http-exchange.js";
import { PluginSet } from "../../src/server/plugins/plugin-set.js";
import { ServerRoutes } from "../../src/server/plugins/server-routes.js";
import { PluginManifest } from "../../src/shared/plugin-manifest.js";
import { WorkerManifest } from "../../src/shared/worker-manifest.js";
import { ourKey, WorkerServer } from "./worker-server.js";

export interface AddedPlugin extends Plugin {
  name?: string;
  base?: string;
  publicRoutes?: string[] | Record<string, string[]>;
  hasApp?: boolean;
}

/** A reported failure of a plugin. */
export interface Complaint {
  plugin: string;
  hook: string;
  message: string;
}

/** The HTTP server of a daemon with real workers, and with plugins that tests pass as plain objects. */
export class PluginServer {
  readonly workers: WorkerServer;
  readonly url: string;
  readonly complaints: Complaint[] = [];
  /** Number of times that a key in a header was checked. */
  keyChecks = 0;
  /** Calls that the workers received, by request target. */
  readonly passedOn: string[] = [];
  readonly router: PluginRouter;
  readonly #server: Server;
  #set = new PluginSet([]);

  private constructor(workers: WorkerServer) {
    this.workers = workers;
    const { engine } = workers;
    this.router = createPluginRouter({
      onRejected: () => undefined,
      set: () => this.#set,
      workers: {
        handle: (exchange) => {
          this.passedOn.push(exchange.request.url ?? "");
          engine.handle(exchange);
        },
        appAt: (target, host) => engine.appAt(target, host),
        handleApp: (plugin, exchange, address) => answerAsApp(plugin.name, exchange, address),
      },
      apiBase: "/api",
      isHeaderCaller: (request) => {
        this.keyChecks += 1;
        return isHeaderCaller(request);
      },
      isOurKey: (token) => token === ourKey,
      maximumBodyBytes: 4 * 1024 * 1024,
      log: { error: ({ err }: { err: Error }) => this.complaints.push({ plugin: "-", hook: "-", message: err.message }) } as never,
    });
    this.#server = createHttpServer({
      apiBase: "/api",
      api: (request, response) => response.end(`api ${request.url}`),
      serve: (exchange) => this.router.serve(exchange),
    });
    this.url = "";
  }

  static async start(): Promise<PluginServer> {
    const server = new PluginServer(await WorkerServer.start());
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return Object.assign(server, { url: `http://127.0.0.1:${(server.#server.address() as AddressInfo).port}` });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Replaces the plugins and forgets the reported failures. */
  use(...plugins: AddedPlugin[]): void {
    this.complaints.length = 0;
    this.passedOn.length = 0;
    this.keyChecks = 0;
    this.#set = new PluginSet(plugins.map((plugin, index) => this.#activate(plugin, plugin.name ?? `plugin-${index + 1}`)));
  }

  fetch(target: string, init?: RequestInit): Promise<Response> {
    return fetch(this.url + target, init);
  }

  async text(target: string, init?: RequestInit): Promise<string> {
    return (await this.fetch(target, init)).text();
  }

  /** Returns status, error code and Retry-After of a rejected request. */
  async refusal(target: string, init?: RequestInit): Promise<{ status: number; code: string; retryAfter: string | null }> {
    const response = await this.fetch(target, init);
    const { error } = (await response.json()) as { error: { code: string } };
    return { status: response.status, code: error.code, retryAfter: response.headers.get("retry-after") };
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await this.workers.stop();
  }

  #activate(plugin: AddedPlugin, name: string): ActivePlugin {
    const { base, publicRoutes, hasApp } = plugin;
    const manifest = PluginManifest.parse({ ...(base ? { base } : {}), ...(publicRoutes ? { publicRoutes } : {}) });
    return {
      name,
      base,
      installed: {
        name,
        version: "1.0.0",
        folder: "/nowhere",
        path: "/nowhere",
        source: "uploaded",
        removable: true,
        enabled: true,
        manifest,
        app: hasApp ? WorkerManifest.parse({}) : undefined,
        config: {},
        manifestHash: "",
      },
      hooks: plugin,
      app: hasApp ? { name, version: "1.0.0", folder: "/nowhere", generation: "1", manifest: WorkerManifest.parse({}) } : undefined,
      routes: plugin.server?.routes ? new ServerRoutes(plugin.server.routes) : undefined,
      info: { kind: "plugin", name, version: "1.0.0", base: base ?? "", visibility: "public" },
      failures: new HookFailures(),
      complain: (hook, error) => void this.complaints.push({ plugin: name, hook, message: (error as Error).message }),
    };
  }
}

function isHeaderCaller({ headers }: IncomingMessage): boolean {
  return headers["x-api-key"] === ourKey || headers.authorization === `Bearer ${ourKey}`;
}

function answerAsApp(name: string, { response }: HttpExchange, address: PluginAppAddress): void {
  response.writeHead(200, ["content-type", "text/plain"]);
  response.end(`app of ${name}: ${address.base} ${address.path}${address.query}`);
}
