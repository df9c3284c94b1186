import type { CommandModules } from "./load-command.js";
import type { QuickCommand } from "./quick-commands.js";

/** The quick commands. Their contracts are among those of scripts/ready-contracts.mjs; with a single other one, zod would be in the small bundle. */
export const quickCommandModules: Readonly<Record<QuickCommand, CommandModules[string]>> = {
  "workers list": () => import("./commands/workers/list.js"),
};
