import type { CommandDefinition } from "./command.js";
import { commandAliases, nounAliases, verbAliases } from "./command-aliases.js";
import { commandTable, isNoun, type NounEntry } from "./command-table.js";
import { globalOptions, versionOption } from "./global-options.js";

/** The help of `runtimectl` itself. */
export function rootHelp(): string {
  return sections([
    [
      "Examples",
      columns([
        ["runtimectl auth login", "sign in; the key is asked for and kept"],
        ["runtimectl deploy ./dir", "pack a folder, upload it, check it, print its URL"],
        ["runtimectl dev ./dir", "the same on this machine, while you work on it"],
        ["runtimectl workers list", "what is installed"],
        ["runtimectl keys create --role editor", "a key for a colleague or CI, 90 days"],
        ["runtimectl status", "is it healthy, who am I"],
        ["runtimectl doctor", "what is wrong between here and the daemon"],
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
    ["Flags of every command", columns([...globalOptions, versionOption].map((option) => [option.flags, option.description]))],
    ["More", `  runtimectl <command> --help\n  runtimectl help environment|exit-codes|formatting|config|keys\n  short: ${shortWords()}`],
  ]);
}

function shortWords(): string {
  return aliasPairs()
    .map(([alias, meaning]) => `${alias} = ${meaning}`)
    .join(", ");
}

/** Every alias and what it stands for. */
export function aliasPairs(): readonly (readonly [alias: string, meaning: string])[] {
  const verbs = Object.entries(verbAliases).map(([alias, meanings]) => [alias, meanings.join(" or ")] as const);
  const commands = Object.entries(commandAliases).map(([alias, words]) => [alias, words.join(" ")] as const);
  return [...Object.entries(nounAliases), ...verbs, ...commands];
}

/** The help of a noun such as `workers`. */
export function nounHelp(name: string, noun: NounEntry): string {
  const lines = Object.entries(noun.verbs).map(([verb, entry]): [string, string] => [`runtimectl ${name} ${verb}`, entry.summary]);
  return `${noun.summary}.\n\n${sections([
    ["Commands", columns(lines)],
    ["More", `  runtimectl ${name} <verb> --help${shortWordsOf(name, noun)}`],
  ])}`;
}

/** One line with the other words for this noun and its verbs, if there are any. */
function shortWordsOf(name: string, { verbs }: NounEntry): string {
  const nouns = Object.keys(nounAliases).filter((alias) => nounAliases[alias] === name);
  const short = Object.entries(verbAliases).flatMap(([alias, meanings]) => {
    const meaning = Object.hasOwn(verbs, alias) ? undefined : meanings.find((verb) => Object.hasOwn(verbs, verb));
    return meaning === undefined ? [] : [`${alias} = ${meaning}`];
  });
  const parts = [...nouns.map((alias) => `${alias} = ${name}`), ...short];
  return parts.length === 0 ? "" : `\n  short: ${parts.join(", ")}`;
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
  if (command.fields) parts.push(["Fields for --json=", `  ${command.fields.join(", ")}`]);
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
