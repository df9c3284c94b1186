import type { ActivePlugin } from "./plugin-instance.js";

/** All loaded plugins, as an immutable value. A reload replaces the value. */
export class PluginSet {
  /** The loaded plugins in the order in which their hooks run. Each plugin follows its dependencies. */
  readonly plugins: readonly ActivePlugin[];
  readonly withRequestHook: readonly ActivePlugin[];
  readonly withResponseHook: readonly ActivePlugin[];
  readonly withServerRoutes: readonly ActivePlugin[];
  readonly withServerFetch: readonly ActivePlugin[];
  /** Plugins with a base path, longest base path first. */
  readonly withBase: readonly ActivePlugin[];
  /** True if no plugin handles requests. All requests then go directly to the workers. */
  readonly isTransparent: boolean;

  constructor(plugins: readonly ActivePlugin[]) {
    this.plugins = Object.freeze([...plugins]);
    this.withRequestHook = plugins.filter(({ hooks }) => typeof hooks.onRequest === "function");
    this.withResponseHook = plugins.filter(({ hooks }) => typeof hooks.onResponse === "function");
    this.withServerRoutes = plugins.filter(({ routes }) => routes);
    this.withServerFetch = plugins.filter(({ hooks }) => typeof hooks.server?.fetch === "function");
    this.withBase = plugins.filter(({ base }) => base !== undefined).toSorted((a, b) => (b.base ?? "").length - (a.base ?? "").length);
    const { withRequestHook, withResponseHook, withServerRoutes, withServerFetch, withBase } = this;
    this.isTransparent = [withRequestHook, withResponseHook, withServerRoutes, withServerFetch, withBase].every(
      ({ length }) => length === 0,
    );
  }
}
