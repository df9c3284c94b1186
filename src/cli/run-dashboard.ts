import "./jitless-zod.js";
import { commandModules } from "./command-modules.js";
import { runCommand, type RunnableCommand } from "./run-command.js";

/** Entry of the bundle that has all commands and, unlike the large one, what draws the dashboard. */
export function run(found: RunnableCommand, given: readonly string[]): Promise<void> {
  return runCommand(found, given, commandModules);
}
