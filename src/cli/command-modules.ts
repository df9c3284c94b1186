import type { CommandDefinition } from "./command.js";

type LoadCommand = () => Promise<{ readonly command: CommandDefinition }>;

/** What each command of the table does, by its words. A module is loaded only when its command runs. */
const commandModules: Readonly<Record<string, LoadCommand>> = {
  "auth login": () => import("./commands/auth/login.js"),
  "auth logout": () => import("./commands/auth/logout.js"),
  "auth status": () => import("./commands/auth/status.js"),
  "profile list": () => import("./commands/profile/list.js"),
  "profile use": () => import("./commands/profile/use.js"),
  "profile add": () => import("./commands/profile/add.js"),
  "profile rm": () => import("./commands/profile/rm.js"),
  status: () => import("./commands/status.js"),
  dev: () => import("./commands/dev.js"),
  "workers list": () => import("./commands/workers/list.js"),
  "workers stats": () => import("./commands/workers/stats.js"),
  "workers upload": () => import("./commands/workers/upload.js"),
  "workers logs": () => import("./commands/workers/logs.js"),
  "workers enable": () => import("./commands/workers/enable.js"),
  "workers disable": () => import("./commands/workers/disable.js"),
  "workers restart": () => import("./commands/workers/restart.js"),
  "workers delete": () => import("./commands/workers/delete.js"),
  "plugins list": () => import("./commands/plugins/list.js"),
  "plugins loaded": () => import("./commands/plugins/loaded.js"),
  "plugins upload": () => import("./commands/plugins/upload.js"),
  "plugins reload": () => import("./commands/plugins/reload.js"),
  "plugins enable": () => import("./commands/plugins/enable.js"),
  "plugins disable": () => import("./commands/plugins/disable.js"),
  "plugins delete": () => import("./commands/plugins/delete.js"),
  "keys list": () => import("./commands/keys/list.js"),
  "keys create": () => import("./commands/keys/create.js"),
  "keys revoke": () => import("./commands/keys/revoke.js"),
  "keys meta": () => import("./commands/keys/meta.js"),
  api: () => import("./commands/api.js"),
  help: () => import("./commands/help.js"),
};

/** Loads the definition of a command of the table. */
export async function loadCommand(words: string): Promise<CommandDefinition> {
  const load = commandModules[words];
  if (load === undefined) throw new Error(`command-modules.ts lacks ${words}`);
  return (await load()).command;
}
