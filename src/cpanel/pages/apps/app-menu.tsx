import type { InstalledVersion } from "../../../shared/worker-versions.js";
import type { MenuEntry } from "../../components/action-menu.js";
import type { App } from "./app.js";
import { appUrl } from "./app-url.js";
import type { AppActions } from "./use-app-actions.js";

export interface AppMenuOptions {
  readonly servedAt: string;
  readonly actions: AppActions;
  readonly may: { readonly change: boolean; readonly restart: boolean };
}

/** Returns the installed version that a rollback activates. Undefined if the worker has no such version. */
export function rollbackOf({ versions }: Pick<App, "versions">, rollbackTo: string | undefined): InstalledVersion | undefined {
  return rollbackTo === undefined ? undefined : versions.find(({ version }) => version === rollbackTo);
}

/** Returns the entries of an app's menu that the key is allowed to use: open, logs, roll back, restart, and disable or enable. */
export function appMenu(app: App, rollbackTo: string | undefined, { servedAt, actions, may }: AppMenuOptions): readonly MenuEntry[] {
  const { name, serving } = app;
  const rollback = rollbackOf(app, rollbackTo);
  const [newest] = app.versions;
  return [
    ...(serving ? [{ title: "Open", icon: "external", href: appUrl(servedAt, name) } as const] : []),
    { title: "Logs", icon: "logs", to: `apps/${name}/logs` },
    ...(may.change && rollback
      ? [{ title: `Roll back to ${rollback.version}`, icon: "roll-back", run: () => actions.serve(app, rollback) } as const]
      : []),
    ...(may.restart && serving ? [{ title: "Restart", icon: "restart", run: () => actions.restart(app, serving) } as const] : []),
    ...(may.change && serving?.source === "uploaded"
      ? [{ title: `Disable ${serving.version}`, icon: "power", run: () => actions.toggle(app, serving) } as const]
      : []),
    ...(may.change && !serving && newest?.source === "uploaded"
      ? [{ title: `Enable ${newest.version}`, icon: "play", run: () => actions.toggle(app, newest) } as const]
      : []),
  ];
}
