import { commandTable, isNoun } from "./command-table.js";
import { globalFlagsWithValue } from "./global-options.js";
import { nounHelp, rootHelp } from "./help.js";

/** What the words of a command line name. */
export type FoundCommand =
  | { readonly kind: "command"; readonly words: string; readonly summary: string; readonly rest: readonly string[] }
  | { readonly kind: "help"; readonly text: string }
  | { readonly kind: "version" }
  | { readonly kind: "unknown"; readonly word: string; readonly noun: string | undefined; readonly candidates: readonly string[] };

/** Finds the command by its words; flags may stand before, between and after them. */
export function findCommand(given: readonly string[]): FoundCommand {
  const positions = wordPositions(given);
  const [first, second] = positions.map((position) => given[position] ?? "");
  const restAfter = (count: number) => given.filter((_, index) => !positions.slice(0, count).includes(index));
  if (first === undefined) return withoutWords(given);
  const entry = Object.hasOwn(commandTable, first) ? commandTable[first] : undefined;
  if (entry === undefined) return { kind: "unknown", word: first, noun: undefined, candidates: Object.keys(commandTable) };
  if (!isNoun(entry)) return { kind: "command", words: first, summary: entry.summary, rest: restAfter(1) };
  if (second === undefined) return { kind: "help", text: nounHelp(first, entry) };
  const verb = Object.hasOwn(entry.verbs, second) ? entry.verbs[second] : undefined;
  if (verb === undefined) return { kind: "unknown", word: second, noun: first, candidates: Object.keys(entry.verbs) };
  return { kind: "command", words: `${first} ${second}`, summary: verb.summary, rest: restAfter(2) };
}

/** Only flags, or nothing at all. */
function withoutWords(given: readonly string[]): FoundCommand {
  if (given.includes("-V") || given.includes("--version")) return { kind: "version" };
  if (given.length === 0 || given.includes("-h") || given.includes("--help")) return { kind: "help", text: rootHelp() };
  return { kind: "unknown", word: given[0] ?? "", noun: undefined, candidates: [] };
}

/** Where the first two words stand that are neither flags nor values of global flags. */
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
