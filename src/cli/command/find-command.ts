import { commandAliases, nounAliases, verbAliases } from "./command-aliases.js";
import { commandTable, isNoun, type NounEntry } from "./command-table.js";
import { globalFlagsWithValue } from "./global-options.js";
import { nounHelp, rootHelp } from "./help.js";
import type { HelpStyle } from "./help-layout.js";

/** The result of the search for the command that a command line selects. */
export type CommandMatch =
  | { readonly kind: "command"; readonly words: string; readonly summary: string; readonly rest: readonly string[] }
  | { readonly kind: "help"; readonly text: (style: HelpStyle) => string }
  | { readonly kind: "version" }
  /** A call of `runtimectl __complete` by a completion script. The shell requests completion candidates for the last word in `words`. */
  | { readonly kind: "completion"; readonly words: readonly string[] }
  | {
      readonly kind: "unknown";
      readonly word: string;
      readonly noun: string | undefined;
      readonly candidates: readonly string[];
      readonly aliases: readonly string[];
    };

/** Finds the command that the first words of a command line select. Flags can appear before, between and after these words. */
export function matchCommand(given: readonly string[]): CommandMatch {
  if (given[0] === "__complete") return { kind: "completion", words: given.slice(1) };
  const positions = wordPositions(given);
  const [word, secondWord] = positions.map((position) => given[position] ?? "");
  const restAfter = (count: number) => given.filter((_, index) => !positions.slice(0, count).includes(index));
  if (word === undefined) return withoutWords(given);
  if (word === "version") return { kind: "version" };
  const [aliasWord, aliasVerb, ...aliasRest] = ownValue(commandAliases, word) ?? [];
  const first = aliasWord ?? ownValue(nounAliases, word) ?? word;
  const entry = ownValue(commandTable, first);
  if (entry === undefined) {
    const aliases = [...Object.keys(nounAliases), ...Object.keys(commandAliases)];
    return { kind: "unknown", word: first, noun: undefined, candidates: Object.keys(commandTable), aliases };
  }
  if (!isNoun(entry)) return { kind: "command", words: first, summary: entry.summary, rest: restAfter(1) };
  const second = aliasVerb ?? secondWord;
  if (second === undefined) return { kind: "help", text: (style) => nounHelp(first, entry, style) };
  const verb = verbOf(entry, second);
  if (verb === undefined) {
    const aliases = Object.keys(verbAliases).filter((alias) => verbOf(entry, alias) !== undefined);
    return { kind: "unknown", word: second, noun: first, candidates: Object.keys(entry.verbs), aliases };
  }
  return {
    kind: "command",
    words: `${first} ${verb.name}`,
    summary: verb.summary,
    rest: [...aliasRest, ...restAfter(aliasVerb === undefined ? 2 : 1)],
  };
}

/** Returns the verb whose name or alias is `word`. Undefined if the noun has no such verb. */
function verbOf({ verbs }: NounEntry, word: string): { readonly name: string; readonly summary: string } | undefined {
  for (const name of [word, ...(ownValue(verbAliases, word) ?? [])]) {
    const entry = ownValue(verbs, name);
    if (entry) return { name, summary: entry.summary };
  }
  return undefined;
}

/**
 * Returns the value of an own property. Ignores inherited properties, because a user can type `constructor`, which every object inherits.
 */
function ownValue<Value>(table: Readonly<Record<string, Value>>, word: string): Value | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

/** Returns the result for a command line that is empty or contains only flags. */
function withoutWords(given: readonly string[]): CommandMatch {
  if (given.includes("-V") || given.includes("--version")) return { kind: "version" };
  if (given.length === 0 || given.includes("-h") || given.includes("--help")) return { kind: "help", text: rootHelp };
  return { kind: "unknown", word: given[0] ?? "", noun: undefined, candidates: [], aliases: [] };
}

/** Returns the positions of the first two words that are neither flags nor values of global flags. */
function wordPositions(given: readonly string[]): number[] {
  const positions: number[] = [];
  for (let index = 0; index < given.length && positions.length < 2; index += 1) {
    const word = given[index] ?? "";
    if (word === "--") break;
    if (globalFlagsWithValue.has(word)) index += 1;
    else if (!word.startsWith("-")) positions.push(index);
  }
  return positions;
}
