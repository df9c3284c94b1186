import type { CommandDefinition, Context, OptionDefinition } from "../command/command.js";
import { matchCommand } from "../command/find-command.js";
import { globalOptions } from "../command/global-options.js";
import { loadCommand, type CommandModules } from "../command/command-registry.js";
import { commandTable } from "../command/command-table.js";
import { connect } from "../client/connection.js";
import { uploadedWorkers } from "../uploaded-workers.js";
import { readProfiles } from "../config/read-profiles.js";

/**
 * Placeholder for the unfinished word. No command has this name. If the unfinished word is a command name, the search therefore fails at
 * this word and returns all command names that are possible there.
 */
const noCommand = "\0";

const kindsOfNouns: Readonly<Record<string, ValueKind>> = {
  plugins: "plugin",
  keys: "key",
  profile: "profile",
  data: "worker",
  cron: "worker",
  isolates: "worker",
  instances: "instance",
};

/** Returns all candidates for the last word. The caller filters the candidates by the text already typed. */
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

/** Returns candidates for the last field name in a list such as `--json=a,b,`. */
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

/** Counts the positional arguments: words that are neither flags nor values of flags. */
function positionalCount(words: readonly string[], options: readonly OptionDefinition[]): number {
  return words.filter((word, index) => !word.startsWith("-") && optionNeedingValue(options, words[index - 1]) === undefined).length;
}

interface Candidate {
  readonly value: string;
  readonly description?: string | undefined;
}

type Source = (context: Context, typed: string) => Promise<readonly Candidate[]> | readonly Candidate[];

const sources: Readonly<Record<ValueKind, Source>> = {
  worker: workerNames,
  "worker with version": (context, typed) => (typed.indexOf("@", 1) > 0 ? workerVersions(context) : workerNames(context)),
  "worker version": workerVersions,
  plugin: plugins,
  key: keys,
  instance: instances,
  profile: profiles,
  topic: topics,
  file: () => [{ value: ":files" }],
};

/** Returns the existing values of a kind, which come from the daemon or from local files. `typed` is the unfinished word. */
async function liveValues(context: Context, kind: ValueKind, typed: string): Promise<readonly Candidate[]> {
  return sources[kind](context, typed);
}

async function topics(): Promise<readonly Candidate[]> {
  const { helpTopics } = await import("../command/help-topics.js");
  const commands = Object.entries(commandTable).map(([value, { summary }]) => ({ value, description: summary }));
  return [...Object.keys(helpTopics).map((value) => ({ value, description: "help topic" })), ...commands];
}

async function installedWorkers(context: Context) {
  const { list } = await import("../../shared/contract/workers.js");
  const { client } = await connect(context, { workers: { list } });
  return uploadedWorkers(await client.workers.list());
}

async function workerNames(context: Context): Promise<readonly Candidate[]> {
  return (await installedWorkers(context)).map(({ name, versions }) => ({ value: name, description: versions.join(" ") }));
}

async function workerVersions(context: Context): Promise<readonly Candidate[]> {
  return (await installedWorkers(context)).flatMap(({ name, versions, disabledVersions }) =>
    versions.map((version) => ({ value: `${name}@${version}`, description: disabledVersions.includes(version) ? "disabled" : "enabled" })),
  );
}

async function plugins(context: Context): Promise<readonly Candidate[]> {
  const { list } = await import("../../shared/contract/plugins.js");
  const { client } = await connect(context, { plugins: { list } });
  return (await client.plugins.list()).map(({ name, status }) => ({ value: name, description: status }));
}

async function keys(context: Context): Promise<readonly Candidate[]> {
  const { list } = await import("../../shared/contract/keys.js");
  const { client } = await connect(context, { keys: { list } });
  return (await client.keys.list()).keys.map(({ id, name, role }) => ({ value: String(id), description: `${name}, ${role}` }));
}

async function instances(context: Context): Promise<readonly Candidate[]> {
  const { list } = await import("../../shared/contract/instances.js");
  const { client } = await connect(context, { instances: { list } });
  return (await client.instances.list()).map(({ name, state }) => ({ value: name, description: state }));
}

async function profiles(context: Context): Promise<readonly Candidate[]> {
  const config = await readProfiles(context.directories.config);
  return [...config.profiles].map(([value, { url }]) => ({ value, description: url }));
}

/** Kinds of values that completion can suggest. */
type ValueKind = "worker" | "worker with version" | "worker version" | "plugin" | "key" | "instance" | "profile" | "file" | "topic";

/** Returns the kind of value that a placeholder such as `<name[@version]>` or `<file>` stands for in a command of this noun. */
function valueKind(noun: string, syntax: string): ValueKind | undefined {
  const [placeholder = ""] = /(?<=[<[]).*(?=[>\]])/.exec(syntax.toLowerCase()) ?? [];
  const word = placeholder.replace(/\.\.\.$/, "");
  if (/^(file|path|dir|folder|archive)\b/.test(word)) return "file";
  if (word === "profile") return "profile";
  if (word === "topic") return "topic";
  if (word.startsWith("name@")) return "worker version";
  if (noun === "workers" && word.startsWith("name")) return word.includes("version") ? "worker with version" : "worker";
  return /^(name|id)\b/.test(word) ? kindsOfNouns[noun] : undefined;
}
