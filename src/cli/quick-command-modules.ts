import type { CommandModules } from "./load-command.js";
import type { QuickCommand } from "./quick-commands.js";

/** The quick commands. Their contracts are made with zod/mini; with a single other one, all of zod would be in the small bundle. */
export const quickCommandModules: Readonly<Record<QuickCommand, CommandModules[string]>> = {
  "workers list": () => import("./commands/workers/list.js"),
};
