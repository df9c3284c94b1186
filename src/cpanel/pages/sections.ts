import { lazy, type ComponentType, type LazyExoticComponent } from "react";

export interface SectionProps {
  /** Decoded path segments after the path of the section: `@team` and `shop` in `apps/@team/shop`. */
  readonly rest: readonly string[];
}

export interface Section {
  /** First URL path segment after the panel's base path. */
  readonly path: string;
  readonly title: string;
  readonly view: LazyExoticComponent<ComponentType<SectionProps>>;
}

/** The panel's sections in the order of the navigation. The code of a section is loaded when the section is first shown. */
export const sections: readonly Section[] = [
  { path: "overview", title: "Overview", view: lazy(async () => ({ default: (await import("./overview/overview.js")).Overview })) },
  { path: "apps", title: "Apps", view: lazy(async () => ({ default: (await import("./apps/apps.js")).Apps })) },
  { path: "plugins", title: "Plugins", view: lazy(async () => ({ default: (await import("./plugins/plugins.js")).Plugins })) },
  { path: "hosts", title: "Hosts", view: lazy(async () => ({ default: (await import("./hosts/hosts.js")).Hosts })) },
  { path: "keys", title: "Keys", view: lazy(async () => ({ default: (await import("./keys/keys.js")).Keys })) },
];
