import type { CommandDefinition } from "./command.js";

/** The module of each command in the command table. */
export const commandModules: CommandModules = {
  "auth login": () => import("../commands/auth/login.js"),
  "auth logout": () => import("../commands/auth/logout.js"),
  "auth status": () => import("../commands/auth/status.js"),
  "profile list": () => import("../commands/profile/list.js"),
  "profile show": () => import("../commands/profile/show.js"),
  "profile use": () => import("../commands/profile/use.js"),
  "profile add": () => import("../commands/profile/add.js"),
  "profile set": () => import("../commands/profile/set.js"),
  "profile rm": () => import("../commands/profile/rm.js"),
  status: () => import("../commands/status.js"),
  tui: () => import("../commands/tui.js"),
  doctor: () => import("../commands/doctor.js"),
  dev: () => import("../commands/dev.js"),
  deploy: () => import("../commands/deploy.js"),
  pack: () => import("../commands/pack.js"),
  validate: () => import("../commands/validate.js"),
  init: () => import("../commands/init.js"),
  "workers list": () => import("../commands/workers/list.js"),
  "workers show": () => import("../commands/workers/show.js"),
  "workers stats": () => import("../commands/workers/stats.js"),
  "workers upload": () => import("../commands/workers/upload.js"),
  "workers logs": () => import("../commands/workers/logs.js"),
  "workers enable": () => import("../commands/workers/enable.js"),
  "workers disable": () => import("../commands/workers/disable.js"),
  "workers rollback": () => import("../commands/workers/rollback.js"),
  "workers restart": () => import("../commands/workers/restart.js"),
  "workers open": () => import("../commands/workers/open.js"),
  "workers delete": () => import("../commands/workers/delete.js"),
  "hosts list": () => import("../commands/hosts/list.js"),
  "hosts add": () => import("../commands/hosts/add.js"),
  "hosts remove": () => import("../commands/hosts/remove.js"),
  "hosts check": () => import("../commands/hosts/check.js"),
  "plugins list": () => import("../commands/plugins/list.js"),
  "plugins show": () => import("../commands/plugins/show.js"),
  "plugins loaded": () => import("../commands/plugins/loaded.js"),
  "plugins upload": () => import("../commands/plugins/upload.js"),
  "plugins reload": () => import("../commands/plugins/reload.js"),
  "plugins enable": () => import("../commands/plugins/enable.js"),
  "plugins disable": () => import("../commands/plugins/disable.js"),
  "plugins delete": () => import("../commands/plugins/delete.js"),
  "files ls": () => import("../commands/files/ls.js"),
  "files get": () => import("../commands/files/get.js"),
  "files put": () => import("../commands/files/put.js"),
  "files mkdir": () => import("../commands/files/mkdir.js"),
  "files mv": () => import("../commands/files/mv.js"),
  "files rm": () => import("../commands/files/rm.js"),
  "keys list": () => import("../commands/keys/list.js"),
  "keys show": () => import("../commands/keys/show.js"),
  "keys create": () => import("../commands/keys/create.js"),
  "keys rotate": () => import("../commands/keys/rotate.js"),
  "keys revoke": () => import("../commands/keys/revoke.js"),
  "keys meta": () => import("../commands/keys/meta.js"),
  events: () => import("../commands/events.js"),
  audit: () => import("../commands/audit.js"),
  "daemon install": () => import("../commands/daemon/install.js"),
  "daemon uninstall": () => import("../commands/daemon/uninstall.js"),
  "daemon status": () => import("../commands/daemon/status.js"),
  "daemon migrate-keys": () => import("../commands/daemon/migrate-keys.js"),
  "daemon backup": () => import("../commands/daemon/backup.js"),
  "daemon restore": () => import("../commands/daemon/restore.js"),
  api: () => import("../commands/api.js"),
  completion: () => import("../commands/completion.js"),
  help: () => import("../commands/help.js"),
};

/** Loaders of command modules, by the words of the command. A module is loaded only when its command runs. */
export type CommandModules = Readonly<Record<string, () => Promise<{ readonly command: CommandDefinition }>>>;

/** Loads the definition of a command. */
export async function loadCommand(words: string, modules: CommandModules): Promise<CommandDefinition> {
  const load = modules[words];
  if (load === undefined) throw new Error(`no module for ${words}`);
  return (await load()).command;
}
