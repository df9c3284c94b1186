import { commandModules } from "../command/command-modules.js";
import { commandTable, isNoun } from "../command/command-table.js";
import type { OptionDefinition } from "../command/command.js";
import { globalOptions } from "../command/global-options.js";
import { loadCommand } from "../command/load-command.js";
import { completePath } from "./complete-path.js";

interface Known {
  /** What the first word may be about: workers, plugins, ids of keys. */
  readonly names: readonly string[];
  readonly workingDirectory: string;
}

/** Verbs that make or show all of something: nothing that is there already is named. */
const withoutNames = new Set(["list", "create", "meta", "loaded", "reload"]);

/** What the last word of a command line may become. */
export async function completionsOf(text: string, known: Known): Promise<string[]> {
  const words = text.trimStart().split(/\s+/);
  const last = words.at(-1) ?? "";
  const [first, second] = words.slice(0, -1).filter((word) => !word.startsWith("-"));
  const candidates = await candidatesFor([first, second], last, known);
  return candidates.filter((candidate) => candidate.startsWith(last)).toSorted();
}

/** The line with its last word as far as all that it may become agree; with a space when it is complete. */
export function completed(text: string, candidates: readonly string[]): string {
  const [first] = candidates;
  if (first === undefined) return text;
  const shared = candidates.reduce((prefix, candidate) => commonStart(prefix, candidate));
  return text.replace(/\S*$/, () => shared) + (candidates.length === 1 && !shared.endsWith("/") ? " " : "");
}

async function candidatesFor(
  [first, second]: readonly (string | undefined)[],
  last: string,
  { names, workingDirectory }: Known,
): Promise<readonly string[]> {
  if (first === undefined) return Object.keys(commandTable);
  const entry = Object.hasOwn(commandTable, first) ? commandTable[first] : undefined;
  if (entry === undefined) return [];
  const words = isNoun(entry) ? `${first} ${second ?? ""}` : first;
  if (isNoun(entry) && second === undefined) return Object.keys(entry.verbs);
  if (last.startsWith("-")) return flagsOf(words);
  if (second === "upload") return pathsAt(last, workingDirectory);
  return second !== undefined && withoutNames.has(second) ? [] : names;
}

async function flagsOf(words: string): Promise<string[]> {
  const options: readonly OptionDefinition[] = words in commandModules ? ((await loadCommand(words, commandModules)).options ?? []) : [];
  return [...options, ...globalOptions].flatMap(({ flags }) => /--[a-z-]+/.exec(flags) ?? []);
}

/** As the upload of a screen completes them; what has blanks in it must be quoted by hand. */
function pathsAt(typed: string, workingDirectory: string): string[] {
  const folder = typed.slice(0, typed.lastIndexOf("/") + 1);
  return completePath(typed, { workingDirectory })
    .candidates.filter((candidate) => !/\s/.test(candidate))
    .map((candidate) => folder + candidate);
}

function commonStart(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}
