import { Argument, Command, CommanderError, Option } from "commander";
import { optionHints } from "./command-aliases.js";
import type { HelpStyle } from "./help-layout.js";
import { commandHelp } from "./help.js";
import { usageError } from "./command-error.js";
import { globalOptions } from "./global-options.js";
import type { ArgumentDefinition, CommandDefinition, GlobalFlags, Invocation, OptionDefinition } from "./command.js";

export interface ParsedCommand {
  readonly flags: GlobalFlags;
  readonly invocation: Invocation;
}

/** Parses the words after the command name. If one of the words is `--help`, calls `onHelp` with the help text and returns undefined. */
export function parseCommand(
  command: { readonly words: string; readonly summary: string; readonly definition: CommandDefinition },
  given: readonly string[],
  { style, onHelp }: { readonly style: HelpStyle; readonly onHelp: (text: string) => void },
): ParsedCommand | undefined {
  const parser = new Command(command.words).exitOverride().helpOption("-h, --help");
  parser.configureOutput({ writeOut: onHelp, writeErr: () => {} });
  parser.helpInformation = () => commandHelp(command.words, command.summary, command.definition, style);
  for (const argument of command.definition.arguments ?? []) parser.addArgument(toArgument(argument));
  for (const option of globalOptions) if (!option.flags.startsWith("-h")) parser.addOption(toOption(option));
  for (const option of command.definition.options ?? []) parser.addOption(toOption(option));
  try {
    parser.parse([...given], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.helpDisplayed") return undefined;
    if (error.code === "commander.excessArguments" && command.definition.refuseExcess) throw command.definition.refuseExcess(parser.args);
    throw usageError(sentenceOf(error), hintOf(error, command.words));
  }
  const options = parser.opts();
  return { flags: options as GlobalFlags, invocation: { values: parser.processedArgs as Invocation["values"], options } };
}

function toArgument(definition: ArgumentDefinition): Argument {
  const argument = new Argument(definition.syntax, definition.description);
  if (definition.default !== undefined) argument.default(definition.default);
  return definition.choices ? argument.choices(definition.choices) : argument;
}

function toOption(definition: OptionDefinition): Option {
  const option = new Option(definition.flags, definition.description);
  if (definition.choices) option.choices(definition.choices);
  if (definition.counted) return option.argParser((_value: string, previous: unknown) => (typeof previous === "number" ? previous : 0) + 1);
  if (definition.repeatable)
    return option.argParser((value: string, previous: unknown) => [...(Array.isArray(previous) ? (previous as string[]) : []), value]);
  return option;
}

function hintOf({ code, message }: CommanderError, words: string): string {
  const option = code === "commander.unknownOption" ? (/'([^']+)'/.exec(message)?.[1] ?? "") : "";
  return optionHints[words]?.[option] ?? optionHints[""]?.[option] ?? `runtimectl ${words} --help`;
}

/** Returns an error message of the npm package commander as one line, without the prefix `error: `. */
function sentenceOf({ code, message }: CommanderError): string {
  // Removes the surplus arguments from the message, because an argument can be the value of a secret.
  const text = code === "commander.excessArguments" ? message.replace(/( but got \d+):.*$/s, "$1") : message;
  return text.replace(/^error: /, "").replace(/\n/g, " ");
}
