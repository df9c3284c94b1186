import { lazy, type ComponentType } from "react";
import type { App } from "./app.js";

export interface AppTabProps {
  readonly app: App;
  /** Requests the list of apps again after a change. */
  readonly onChanged: () => Promise<void>;
}

/** A tab of an app. The browser loads the code of the tab when the user first opens it. */
export interface AppTab {
  /** Last segment of the page's path, as in `apps/shop/logs`. */
  readonly id: string;
  readonly title: string;
  readonly view: ComponentType<AppTabProps>;
}

/** The tabs of an app, from left to right. A path without a tab, such as `apps/shop`, shows the first tab. */
export const appTabs: readonly AppTab[] = [
  { id: "overview", title: "Overview", view: lazy(async () => ({ default: (await import("./app-overview.js")).AppOverview })) },
  {
    id: "deployments",
    title: "Deployments",
    view: lazy(async () => ({ default: (await import("./deployments/deployments.js")).Deployments })),
  },
  { id: "logs", title: "Logs", view: lazy(async () => ({ default: (await import("../logs/log-view.js")).LogView })) },
  {
    id: "configuration",
    title: "Configuration",
    view: lazy(async () => ({ default: (await import("./configuration/configuration.js")).Configuration })),
  },
  { id: "schedules", title: "Schedules", view: lazy(async () => ({ default: (await import("./schedules/schedules.js")).Schedules })) },
  { id: "files", title: "Files", view: lazy(async () => ({ default: (await import("./app-files.js")).AppFiles })) },
];

/** Returns the path of a tab of an app, relative to the panel. */
export function tabPath(name: string, id: string): string {
  return id === appTabs[0]?.id ? `apps/${name}` : `apps/${name}/${id}`;
}
