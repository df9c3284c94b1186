import "./jitless-zod.js";
import { commandModules } from "./command-modules.js";
import type { FoundCommand } from "./find-command.js";
import { runCommand } from "./run-command.js";

/** Entry of the large bundle. */
export async function run(found: Exclude<FoundCommand, { kind: "help" }>, given: readonly string[]): Promise<void> {
  if (found.kind !== "completion") return runCommand(found, given, commandModules);
  const { complete } = await import("./completion/complete.js");
  await complete(found.words, commandModules);
}
