import type { CommandDefinition, Context, OptionDefinition } from "../command/command.js";
import { matchCommand } from "../command/find-command.js";
import { globalOptions } from "../command/global-options.js";
import { loadCommand, type CommandModules } from "../command/load-command.js";
import { liveValues, type Candidate } from "./live-values.js";
import { valueKind } from "./value-kind.js";

/** No command has this name: what is found instead of it names those that could stand there. */
const noCommand = "\0";

/** Everything that could stand in the place of the last word, whatever it begins with. */
export async function candidatesFor(context: Context, words: readonly string[], modules: CommandModules): Promise<readonly Candidate[]> {
  const [before, typed] = [words.slice(0, -1), words.at(-1) ?? ""];
  const found = matchCommand([...before, noCommand]);
  const command = found.kind === "command" ? { words: found.words, definition: await loadCommand(found.words, modules) } : undefined;
  const options = [...(command?.definition.options ?? []), ...globalOptions];
  if (before.includes("--")) return [];
  const open = optionNeedingValue(options, before.at(-1));
  const noun = command?.words.split(" ")[0] ?? "";
  if (open) return open.choices?.map((value) => ({ value })) ?? valuesOf(context, { noun, syntax: open.flags, typed });
  if (typed.startsWith("--json=")) return fieldsOf(command?.definition, typed);
  if (typed.startsWith("-")) return options.flatMap(({ flags, description }) => longFlags(flags).map((value) => ({ value, description })));
  if (found.kind === "unknown") return (found.word === noCommand ? found.candidates : []).map((value) => ({ value }));
  if (command === undefined || found.kind !== "command") return [];
  const position = positionalCount(found.rest.slice(0, found.rest.lastIndexOf(noCommand)), options);
  const given = command.definition.arguments ?? [];
  const argument = given[position] ?? (given.at(-1)?.syntax.includes("...") ? given.at(-1) : undefined);
  if (argument === undefined) return [];
  return argument.choices?.map((value) => ({ value })) ?? valuesOf(context, { noun, syntax: argument.syntax, typed });
}

async function valuesOf(
  context: Context,
  { noun, syntax, typed }: { noun: string; syntax: string; typed: string },
): Promise<readonly Candidate[]> {
  const kind = valueKind(noun, syntax);
  return kind === undefined ? [] : liveValues(context, kind, typed);
}

/** The last of several fields is the one that is being typed. */
function fieldsOf(definition: CommandDefinition | undefined, typed: string): readonly Candidate[] {
  const chosen = typed.slice(0, Math.max(typed.lastIndexOf(","), typed.indexOf("=")) + 1);
  return (definition?.fields ?? []).map((field) => ({ value: chosen + field }));
}

function longFlags(flags: string): string[] {
  return flags.match(/--[a-z][a-z-]*/g) ?? [];
}

function names(flags: string): string[] {
  return flags.match(/(?<=^|, )--?[A-Za-z][a-z-]*/g) ?? [];
}

function optionNeedingValue(options: readonly OptionDefinition[], word: string | undefined): OptionDefinition | undefined {
  return word === undefined ? undefined : options.find(({ flags }) => flags.includes("<") && names(flags).includes(word));
}

/** How many of the words are arguments, neither flags nor their values. */
function positionalCount(words: readonly string[], options: readonly OptionDefinition[]): number {
  return words.filter((word, index) => !word.startsWith("-") && optionNeedingValue(options, words[index - 1]) === undefined).length;
}
