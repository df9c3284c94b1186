import type { CommandDefinition } from "./command.js";
import { commandAliases, nounAliases, verbAliases } from "./command-aliases.js";
import { commandTable, type CommandEntry, type NounEntry } from "./command-table.js";
import { globalOptions, versionOption } from "./global-options.js";
import { helpTopics } from "./help-topics.js";
import { columns, paragraphs, sections, type HelpStyle } from "./help-layout.js";

/** Groups of command names by purpose, each with a title. Each command of the command table belongs to exactly one group. */
const groups: readonly (readonly [title: string, names: readonly string[]])[] = [
  ["Build and deploy", ["init", "dev", "validate", "pack", "deploy"]],
  ["Manage", ["workers", "hosts", "secrets", "data", "cron", "isolates", "instances", "plugins", "files", "keys"]],
  ["Watch", ["status", "settings", "tui", "events", "audit", "doctor"]],
  ["Connect", ["auth", "profile", "api"]],
  ["This machine", ["daemon", "completion", "help"]],
];

/** Returns the help of `runtimectl` without a command. */
export function rootHelp(style: HelpStyle): string {
  const commands = groups.map(([title, names]): [string, string] => [
    title,
    columns(
      names.map((name) => [name, (commandTable[name] as CommandEntry).summary]),
      style,
    ),
  ]);
  return sections(
    [
      [
        "Examples",
        columns(
          [
            ["runtimectl auth login", "sign in; prompt for the key and store it"],
            ["runtimectl deploy ./dir", "pack a folder, upload it and print its URL"],
            ["runtimectl workers logs app -f", "stream the log of a worker"],
            ["runtimectl keys create --role editor", "create a key that is valid for 90 days"],
            ["runtimectl doctor", "diagnose the connection to the daemon"],
          ],
          style,
        ),
      ],
      ["Usage", "  runtimectl <command> [arguments] [flags]"],
      ...commands,
      [
        "Flags of every command",
        columns(
          [...globalOptions, versionOption].map((option) => [option.flags, option.description]),
          style,
        ),
      ],
      [
        "More",
        `  runtimectl <command> --help\n  runtimectl help ${Object.keys(helpTopics).join("|")}\n${paragraphs(`aliases: ${shortWords()}`, style)}`,
      ],
    ],
    style,
  );
}

function shortWords(): string {
  return aliasPairs()
    .map(([alias, meaning]) => `${alias} = ${meaning}`)
    .join(", ");
}

/** Returns every alias with the words for which the alias stands. */
export function aliasPairs(): readonly (readonly [alias: string, meaning: string])[] {
  const verbs = Object.entries(verbAliases).map(([alias, meanings]) => [`NOUN ${alias}`, meanings.join(" or ")] as const);
  const commands = Object.entries(commandAliases).map(([alias, words]) => [alias, words.join(" ")] as const);
  return [...Object.entries(nounAliases), ...verbs, ...commands];
}

/** Returns the help of a noun such as `workers`, with all of its verbs. */
export function nounHelp(name: string, noun: NounEntry, style: HelpStyle): string {
  const lines = Object.entries(noun.verbs).map(([verb, entry]): [string, string] => [`runtimectl ${name} ${verb}`, entry.summary]);
  return `${noun.summary}.\n\n${sections(
    [
      ["Commands", columns(lines, style)],
      ["More", paragraphs(`runtimectl ${name} <verb> --help${shortWordsOf(name, noun)}`, style)],
    ],
    style,
  )}`;
}

/** Returns a line with the aliases of a noun and of its verbs. Empty if the noun and its verbs have no aliases. */
function shortWordsOf(name: string, { verbs }: NounEntry): string {
  const nouns = Object.keys(nounAliases).filter((alias) => nounAliases[alias] === name);
  const short = Object.entries(verbAliases).flatMap(([alias, meanings]) => {
    const meaning = Object.hasOwn(verbs, alias) ? undefined : meanings.find((verb) => Object.hasOwn(verbs, verb));
    return meaning === undefined ? [] : [`${alias} = ${meaning}`];
  });
  const parts = [...nouns.map((alias) => `${alias} = ${name}`), ...short];
  return parts.length === 0 ? "" : `\naliases: ${parts.join(", ")}`;
}

/** Returns the help of one command. The help starts with the examples. */
export function commandHelp(words: string, summary: string, command: CommandDefinition, style: HelpStyle): string {
  const given = command.arguments ?? [];
  const usage = ["runtimectl", words, ...given.map((argument) => argument.syntax), "[flags]"].join(" ");
  const parts: [string, string][] = [
    ["Examples", columns(command.examples, style)],
    ["Usage", paragraphs(usage, style)],
  ];
  if (given.length > 0)
    parts.push([
      "Arguments",
      columns(
        given.map((argument) => [argument.syntax, argument.description]),
        style,
      ),
    ]);
  if (command.options?.length)
    parts.push([
      "Flags",
      columns(
        command.options.map((option) => [option.flags, option.description]),
        style,
      ),
    ]);
  if (command.fields) parts.push(["Fields for --json=", paragraphs(command.fields.join(", "), style)]);
  if (command.notes !== undefined) parts.push(["Notes", paragraphs(command.notes, style)]);
  parts.push(["Flags of every command", "  runtimectl --help"]);
  return `${paragraphs(`${summary}.`, style, "")}\n\n${sections(parts, style)}`;
}
