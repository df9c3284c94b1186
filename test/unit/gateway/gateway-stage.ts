import type { AppInfo, Plugin, PluginContext, PluginPrincipal } from "../../../src/plugin/index.js";
import createPlugin from "../../../src/gateway/plugin.js";

const unused = (): never => {
  throw new Error("the gateway has no use for this");
};

export interface GatewayStage {
  readonly plugin: Plugin;
  /** What was counted: `gateway_limited everyone` → 3. */
  readonly counts: ReadonlyMap<string, number>;
  /** What the hooks make of a request that an app answers with `answer`. */
  send(request: Request, options?: { answer?: Response; app?: AppInfo }): Promise<Response>;
}

export const shop: AppInfo = { kind: "worker", name: "shop", version: "1.0.0", base: "/shop", visibility: "public" };

/** The plugin as the daemon would load it: factory, `onInit`, then requests. */
export async function stageGateway(
  config: Record<string, unknown>,
  verify: (request: Request) => PluginPrincipal | undefined = () => undefined,
): Promise<GatewayStage> {
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

/** A request as the runtime hands it to plugins: the peer is the last entry of X-Forwarded-For. */
export function requestOf(path: string, options: { from?: string; method?: string; headers?: Record<string, string> } = {}): Request {
  const { from = "192.0.2.1", method = "GET", headers = {} } = options;
  return new Request(`http://host.test${path}`, { method, headers: { "x-forwarded-for": from, ...headers } });
}
