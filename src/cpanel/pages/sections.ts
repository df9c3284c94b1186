import { lazy, type ComponentType, type LazyExoticComponent } from "react";
import type { IconName } from "../components/icon.js";
import type { Permission } from "../../shared/permissions.js";

export interface SectionProps {
  /** Decoded path segments after the path of the section: `@team` and `shop` in `apps/@team/shop`. */
  readonly rest: readonly string[];
}

export interface Section {
  /** First URL path segment after the panel's base path. */
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /**
   * The navigation shows the section if the key has at least one of these permissions. If undefined, the navigation always shows the
   * section.
   */
  readonly permissions?: readonly Permission[];
  readonly view: LazyExoticComponent<ComponentType<SectionProps>>;
}

/** The panel's sections in the order of the navigation. The code of a section is loaded when the section is first shown. */
export const sections: readonly Section[] = [
  {
    path: "overview",
    title: "Overview",
    icon: "overview",
    view: lazy(async () => ({ default: (await import("./overview/overview.js")).Overview })),
  },
  {
    path: "apps",
    title: "Apps",
    icon: "apps",
    permissions: ["workers:read"],
    view: lazy(async () => ({ default: (await import("./apps/apps.js")).Apps })),
  },
  {
    path: "logs",
    title: "Logs",
    icon: "logs",
    permissions: ["workers:read"],
    view: lazy(async () => ({ default: (await import("./logs/logs.js")).Logs })),
  },
  {
    path: "activity",
    title: "Activity",
    icon: "activity",
    permissions: ["audit:read", "workers:read", "plugins:read", "keys:read"],
    view: lazy(async () => ({ default: (await import("./activity/activity.js")).Activity })),
  },
  {
    path: "plugins",
    title: "Plugins",
    icon: "plugins",
    permissions: ["plugins:read"],
    view: lazy(async () => ({ default: (await import("./plugins/plugins.js")).Plugins })),
  },
  {
    path: "hosts",
    title: "Hosts",
    icon: "hosts",
    permissions: ["workers:read"],
    view: lazy(async () => ({ default: (await import("./hosts/hosts.js")).Hosts })),
  },
  {
    path: "keys",
    title: "Keys",
    icon: "keys",
    permissions: ["keys:read"],
    view: lazy(async () => ({ default: (await import("./keys/keys.js")).Keys })),
  },
  {
    path: "instances",
    title: "Instances",
    icon: "instances",
    permissions: ["workers:read"],
    view: lazy(async () => ({ default: (await import("./instances/instances.js")).Instances })),
  },
  {
    path: "settings",
    title: "Settings",
    icon: "settings",
    view: lazy(async () => ({ default: (await import("./settings/settings.js")).Settings })),
  },
];

/** Returns the sections that a key with these permissions can use. */
export function sectionsFor(granted: readonly Permission[]): readonly Section[] {
  return sections.filter(({ permissions }) => permissions === undefined || permissions.some((permission) => granted.includes(permission)));
}
