import type { CommandDefinition } from "./command.js";

/** What commands do, by their words. A module is loaded only when its command runs. */
export type CommandModules = Readonly<Record<string, () => Promise<{ readonly command: CommandDefinition }>>>;

/** Loads the definition of a command that is among the modules. */
export async function loadCommand(words: string, modules: CommandModules): Promise<CommandDefinition> {
  const load = modules[words];
  if (load === undefined) throw new Error(`no module for ${words}`);
  return (await load()).command;
}
