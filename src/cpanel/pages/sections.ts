import { lazy, type ComponentType, type LazyExoticComponent } from "react";

export interface SectionProps {
  /** What follows the section's own segment in the path, decoded: of `apps/@team/shop` it is `@team`, `shop`. */
  readonly rest: readonly string[];
}

export interface Section {
  /** Its segment below the panel. */
  readonly path: string;
  readonly title: string;
  readonly view: LazyExoticComponent<ComponentType<SectionProps>>;
}

/** The panel's sections in the order of the navigation; each is loaded when it is first shown. */
export const sections: readonly Section[] = [
  { path: "overview", title: "Overview", view: lazy(async () => ({ default: (await import("./overview/overview.js")).Overview })) },
  { path: "apps", title: "Apps", view: lazy(async () => ({ default: (await import("./apps/apps.js")).Apps })) },
  { path: "plugins", title: "Plugins", view: lazy(async () => ({ default: (await import("./plugins/plugins.js")).Plugins })) },
  { path: "keys", title: "Keys", view: lazy(async () => ({ default: (await import("./keys/keys.js")).Keys })) },
];
