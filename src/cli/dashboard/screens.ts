import type { ComponentType } from "react";
import type { ActionId } from "./keyboard/keymap.js";
import { ConnectScreen } from "./connect/connect.js";
import { FilesScreen } from "./files/files.js";
import { HostsScreen } from "./hosts/hosts.js";
import { InstancesScreen } from "./instances/instances.js";
import { KeysScreen } from "./keys/keys.js";
import { LogsScreen } from "./logs/logs.js";
import { OverviewScreen } from "./overview/overview.js";
import { PluginsScreen } from "./plugins/plugins.js";
import { SecretsScreen } from "./secrets/secrets.js";
import { WorkersScreen } from "./workers/workers.js";

/** The screens with a tab, in the order of the number keys that open them. */
export const screens = [
  { id: "overview", title: "Overview", action: "screen.overview", component: OverviewScreen },
  { id: "workers", title: "Workers", action: "screen.workers", component: WorkersScreen },
  { id: "plugins", title: "Plugins", action: "screen.plugins", component: PluginsScreen },
  { id: "keys", title: "Keys", action: "screen.keys", component: KeysScreen },
  { id: "files", title: "Files", action: "screen.files", component: FilesScreen },
  { id: "logs", title: "Logs", action: "screen.logs", component: LogsScreen },
  { id: "hosts", title: "Hosts", action: "screen.hosts", component: HostsScreen },
  { id: "connect", title: "Connect", action: "screen.connect", component: ConnectScreen, needsNoSession: true },
  { id: "instances", title: "Instances", action: "screen.instances", component: InstancesScreen },
] as const satisfies readonly Screen[];

/**
 * Screens without a tab and without a shortcut, which show a selected item. `tab` is the screen from which the user opens the inner screen.
 */
export const innerScreens = [{ id: "secrets", component: SecretsScreen, tab: "workers" }] as const;

interface Screen {
  readonly id: string;
  readonly title: string;
  readonly action: ActionId;
  readonly component: ComponentType;
  /** Whether the screen can be shown without a session. */
  readonly needsNoSession?: boolean;
}

export type TabId = (typeof screens)[number]["id"];
export type ScreenId = TabId | (typeof innerScreens)[number]["id"];

/** Returns the tab that is highlighted while a screen is shown. */
export function tabOf(screen: ScreenId): TabId {
  return innerScreens.find(({ id }) => id === screen)?.tab ?? (screen as TabId);
}
