import { quickCommandModules } from "./quick-command-modules.js";
import { runCommand, type RunnableCommand } from "./run-command.js";

/** Entry of the small bundle. */
export function run(found: RunnableCommand, given: readonly string[]): Promise<void> {
  return runCommand(found, given, quickCommandModules);
}
