import { commandTable } from "../command/command-table.js";
import type { Context } from "../command/command.js";
import { connect } from "../client/connection.js";
import { uploadedWorkers } from "../uploaded-workers.js";
import { readProfiles } from "../config/read-profiles.js";
import type { ValueKind } from "./value-kind.js";

export interface Candidate {
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
  profile: profiles,
  topic: topics,
  file: () => [{ value: ":files" }],
};

/** What there is of a kind now, as the daemon and the files of the caller say. `typed` is the unfinished word. */
export async function liveValues(context: Context, kind: ValueKind, typed: string): Promise<readonly Candidate[]> {
  return sources[kind](context, typed);
}

async function topics(): Promise<readonly Candidate[]> {
  const { helpTopics } = await import("../command/help-topics.js");
  const commands = Object.entries(commandTable).map(([value, { summary }]) => ({ value, description: summary }));
  return [...Object.keys(helpTopics).map((value) => ({ value, description: "a topic" })), ...commands];
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
    versions.map((version) => ({ value: `${name}@${version}`, description: disabledVersions.includes(version) ? "off" : "on" })),
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

async function profiles(context: Context): Promise<readonly Candidate[]> {
  const config = await readProfiles(context.directories.config);
  return [...config.profiles].map(([value, { url }]) => ({ value, description: url }));
}
