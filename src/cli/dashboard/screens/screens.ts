import type { ComponentType } from "react";
import type { ActionId } from "../keymap.js";
import { ConnectScreen } from "./connect.js";
import { FilesScreen } from "./files.js";
import { KeysScreen } from "./keys.js";
import { LogsScreen } from "./logs.js";
import { OverviewScreen } from "./overview.js";
import { PluginsScreen } from "./plugins.js";
import { WorkersScreen } from "./workers.js";

interface Screen {
  readonly id: string;
  readonly title: string;
  readonly action: ActionId;
  readonly component: ComponentType;
  /** Can be shown without a daemon. */
  readonly needsNoSession?: boolean;
}

/** The screens in the order of their keys. */
export const screens = [
  { id: "overview", title: "Overview", action: "screen.overview", component: OverviewScreen },
  { id: "workers", title: "Workers", action: "screen.workers", component: WorkersScreen },
  { id: "plugins", title: "Plugins", action: "screen.plugins", component: PluginsScreen },
  { id: "keys", title: "Keys", action: "screen.keys", component: KeysScreen },
  { id: "files", title: "Files", action: "screen.files", component: FilesScreen },
  { id: "logs", title: "Logs", action: "screen.logs", component: LogsScreen },
  { id: "connect", title: "Connect", action: "screen.connect", component: ConnectScreen, needsNoSession: true },
] as const satisfies readonly Screen[];

export type ScreenId = (typeof screens)[number]["id"];
