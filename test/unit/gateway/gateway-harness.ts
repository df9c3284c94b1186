import type { AppInfo, Plugin, PluginContext, PluginPrincipal } from "../../../src/plugin/index.js";
import createPlugin from "../../../src/gateway/plugin.js";

const unused = (): never => {
  throw new Error("the gateway has no use for this");
};

export interface GatewayHarness {
  readonly plugin: Plugin;
  /** Counts by metric and labels: `gateway_limited everyone` → 3. */
  readonly counts: ReadonlyMap<string, number>;
  /** Runs the hooks for a request to which an app responds with `answer`. */
  send(request: Request, options?: { answer?: Response; app?: AppInfo }): Promise<Response>;
}

export const shop: AppInfo = { kind: "worker", name: "shop", version: "1.0.0", base: "/shop", visibility: "public" };

/** Loads the plugin like the daemon: factory, then `onInit`, then requests. */
export async function loadGateway(
  config: Record<string, unknown>,
  verify: (request: Request) => PluginPrincipal | undefined = () => undefined,
): Promise<GatewayHarness> {
  const counts = new Map<string, number>();
  const plugin = typeof createPlugin === "function" ? await createPlugin(config) : createPlugin;
  const context: PluginContext = {
    config,
    logger: { debug: unused, info: unused, warn: unused, error: unused },
    getPlugin: unused,
    runtime: { api: "/api", version: "1.0.0" },
    auth: { verify },
    metrics: {
      counter: (name) => ({
        add: (labels, count = 1) => {
          const key = [name, ...Object.values(labels ?? {})].join(" ");
          counts.set(key, (counts.get(key) ?? 0) + count);
        },
      }),
    },
  };
  await plugin.onInit?.(context);
  return {
    plugin,
    counts,
    async send(request, { answer = new Response("app"), app = shop } = {}) {
      const early = await plugin.onRequest?.(request, app);
      if (early instanceof Response) return early;
      return (await plugin.onResponse?.(answer, app, request)) ?? answer;
    },
  };
}

/** Creates a request as passed to plugins: the peer is the last entry of X-Forwarded-For. */
export function requestOf(path: string, options: { from?: string; method?: string; headers?: Record<string, string> } = {}): Request {
  const { from = "192.0.2.1", method = "GET", headers = {} } = options;
  return new Request(`http://host.test${path}`, { method, headers: { "x-forwarded-for": from, ...headers } });
}
