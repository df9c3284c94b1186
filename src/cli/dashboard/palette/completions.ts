import { commandModules, loadCommand } from "../../command/command-registry.js";
import { commandTable, isNoun } from "../../command/command-table.js";
import type { OptionDefinition } from "../../command/command.js";
import { globalOptions } from "../../command/global-options.js";
import { completePath } from "./complete-path.js";
import type { Client } from "../../../shared/client.js";
import { instanceLabel } from "../../../shared/instance-list.js";
import { uploadedWorkers } from "../../uploaded-workers.js";
import { useQuery } from "../queries/hooks.js";

/**
 * Command verbs whose argument is not the name of an existing item. Some of these verbs have no argument, others have a new name as their
 * argument.
 */
const withoutNames = new Set(["list", "create", "meta", "loaded", "reload"]);

interface Known {
  /** Names of existing workers or plugins, or ids of existing keys, depending on the noun of the command. */
  readonly names: readonly string[];
  readonly workingDirectory: string;
}

/** Returns the candidates that can replace the last word of a command line. */
export async function completionsOf(text: string, known: Known): Promise<string[]> {
  const words = text.trimStart().split(/\s+/);
  const last = words.at(-1) ?? "";
  const [first, second] = words.slice(0, -1).filter((word) => !word.startsWith("-"));
  const candidates = await candidatesFor([first, second], last, known);
  return candidates.filter((candidate) => candidate.startsWith(last)).toSorted();
}

/**
 * Returns the text with its last word extended to the longest common start of the candidates. If there is only one candidate, adds a space.
 */
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

/** Returns local paths that start with the typed path. Omits paths with white space, which would need quotes. */
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

interface NameSource {
  /** Name of the query whose response contains the names. Screens use the same query and share the response. */
  readonly resource: string;
  readonly ask: (client: Client) => Promise<unknown>;
  readonly names: (answer: unknown) => readonly string[];
}

const sources: Readonly<Record<string, NameSource>> = {
  workers: sourceOf(
    "workers",
    (client) => client.workers.list(),
    (workers) => uploadedWorkers(workers).flatMap(({ name, versions }) => [name, ...versions.map((version) => `${name}@${version}`)]),
  ),
  plugins: sourceOf(
    "plugins",
    (client) => client.plugins.list(),
    (plugins) => plugins.map(({ name }) => name),
  ),
  keys: sourceOf(
    "keys",
    async (client) => (await client.keys.list()).keys,
    (keys) => keys.map(({ id }) => String(id)),
  ),
  instances: sourceOf(
    "instances",
    (client) => client.instances.list(),
    (instances) => instances.map((instance) => instanceLabel(instance, instances)),
  ),
};
/** Source that returns no names. Used for nouns such as `auth`, for which the daemon has no list of names. */
const nothing = sourceOf(
  "session",
  (client) => client.session.show(),
  () => [],
);

/** Returns the names of the existing items of a noun as completion candidates. Empty while the names are loading. */
export function useNames(noun: string): readonly string[] {
  const { resource, ask, names } = (Object.hasOwn(sources, noun) && sources[noun]) || nothing;
  const { value } = useQuery(resource, ask);
  // Omits names with control characters, and names that need quotes.
  return value === undefined ? [] : names(value).filter((name) => /^[!-~]+$/.test(name));
}

function sourceOf<Answer>(
  resource: string,
  ask: (client: Client) => Promise<Answer>,
  names: (answer: Answer) => readonly string[],
): NameSource {
  return { resource, ask, names: (answer) => names(answer as Answer) };
}
