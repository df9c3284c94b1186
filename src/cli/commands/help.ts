import { commandModules, loadCommand } from "../command/command-registry.js";
import { usageError } from "../command/command-error.js";
import { defineCommand } from "../command/command.js";
import { matchCommand } from "../command/find-command.js";
import { commandHelp, rootHelp } from "../command/help.js";
import { helpStyleOf, type HelpStyle } from "../command/help-layout.js";
import { helpTopics } from "../command/help-topics.js";

export const command = defineCommand<[words: readonly string[]]>({
  arguments: [{ syntax: "[topic...]", description: `A command, or one of the topics ${Object.keys(helpTopics).join(", ")}` }],
  fields: ["topic", "text"],
  examples: [
    ["runtimectl help workers upload", "show the help of a command"],
    ["runtimectl help exit-codes", "list the exit codes"],
    ["runtimectl help environment", "list the environment variables"],
    ["runtimectl help config", "list the configuration files and profile settings"],
  ],
  async run(context, [words]) {
    const style = helpStyleOf(context.terminal);
    const text = await helpOn(words, context.output.isJson ? { ...style, hasColor: false } : style);
    context.output.result({ topic: words.join(" "), text }, text.trimEnd());
  },
});

async function helpOn(words: readonly string[], style: HelpStyle): Promise<string> {
  const [first] = words;
  if (first === undefined) return rootHelp(style);
  if (Object.hasOwn(helpTopics, first)) return helpTopics[first as keyof typeof helpTopics](style);
  const found = matchCommand(words);
  if (found.kind === "help") return found.text(style);
  if (found.kind !== "command")
    throw usageError(`there is no command or topic ${words.join(" ")}`, `topics: ${Object.keys(helpTopics).join(", ")}`);
  return commandHelp(found.words, found.summary, await loadCommand(found.words, commandModules), style);
}
