import { commandModules } from "./command-modules.js";
import { runCommand, type RunnableCommand } from "./run-command.js";

/** Entry of the large bundle. */
export function run(found: RunnableCommand, given: readonly string[]): Promise<void> {
  return runCommand(found, given, commandModules);
}
