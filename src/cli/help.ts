import type { CommandDefinition } from "./command.js";
import { commandTable, isNoun, type NounEntry } from "./command-table.js";
import { globalOptions } from "./global-options.js";

/** The help of `runtimectl` itself. */
export function rootHelp(): string {
  return sections([
    [
      "Examples",
      columns([
        ["runtimectl auth login", "sign in; the key is asked for and kept"],
        ["runtimectl workers upload ./dir", "pack a folder, upload it, print its URL"],
        ["runtimectl dev ./dir", "the same on this machine, while you work on it"],
        ["runtimectl workers list", "what is installed"],
        ["runtimectl keys create --role editor", "a key for a colleague or CI, 90 days"],
        ["runtimectl status", "is it healthy, who am I"],
        ["runtimectl api GET workers", "any call, signed in"],
      ]),
    ],
    ["Usage", "  runtimectl <command> [arguments] [flags]"],
    [
      "Commands",
      columns(
        Object.entries(commandTable).map(([name, entry]) => [
          isNoun(entry) ? `${name} ${Object.keys(entry.verbs).join("|")}` : name,
          entry.summary,
        ]),
      ),
    ],
    ["Flags of every command", columns(globalOptions.map((option) => [option.flags, option.description]))],
    ["More", "  runtimectl <command> --help\n  runtimectl help exit-codes\n  runtimectl help environment"],
  ]);
}

/** The help of a noun such as `workers`. */
export function nounHelp(name: string, noun: NounEntry): string {
  const lines = Object.entries(noun.verbs).map(([verb, entry]): [string, string] => [`runtimectl ${name} ${verb}`, entry.summary]);
  return `${noun.summary}.\n\n${sections([
    ["Commands", columns(lines)],
    ["More", `  runtimectl ${name} <verb> --help`],
  ])}`;
}

/** The help of one command: examples first. */
export function commandHelp(words: string, summary: string, command: CommandDefinition): string {
  const given = command.arguments ?? [];
  const usage = ["runtimectl", words, ...given.map((argument) => argument.syntax), "[flags]"].join(" ");
  const parts: [string, string][] = [
    ["Examples", columns(command.examples)],
    ["Usage", `  ${usage}`],
  ];
  if (given.length > 0) parts.push(["Arguments", columns(given.map((argument) => [argument.syntax, argument.description]))]);
  if (command.options?.length) parts.push(["Flags", columns(command.options.map((option) => [option.flags, option.description]))]);
  if (command.notes !== undefined) parts.push(["Notes", command.notes.replace(/^/gm, "  ")]);
  parts.push(["Flags of every command", columns(globalOptions.map((option) => [option.flags, option.description]))]);
  return `${summary}.\n\n${sections(parts)}`;
}

function sections(parts: readonly (readonly [title: string, body: string])[]): string {
  return `${parts.map(([title, body]) => `${title}:\n${body}`).join("\n\n")}\n`;
}

function columns(rows: readonly (readonly [left: string, right: string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
