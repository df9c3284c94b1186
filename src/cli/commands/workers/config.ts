import { changeOfWorker, showOfWorker, type WorkerConfig } from "../../../shared/contract/configuration.js";
import { list } from "../../../shared/contract/workers.js";
import { toPathSegments } from "../../../shared/package-name.js";
import { activeVersionOf } from "../../../shared/worker-versions.js";
import { connect, type Connection } from "../../client/connection.js";
import { configHeadings, fieldChanges, fieldRows, newValues, type ConfigOptions, type FieldChange } from "../../config-changes.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { parsePackageReference } from "../../command/package-reference.js";
import { findWorker } from "./installed-worker.js";

/** Prefix of field names that stand for one variable, such as `env.GREETING`. */
const variablePrefix = "env.";

export const command = defineCommand<[reference: string], ConfigOptions>({
  arguments: [
    { syntax: "<name[@version]>", description: "The worker, such as @team/app, or one version of it (default: the active version)" },
  ],
  options: [
    { flags: "--set <field=value>", description: "Set a field, such as memory=256mb or env.GREETING=hello; repeatable", repeatable: true },
    { flags: "--unset <field>", description: "Remove a field, such as timeout or env.GREETING; repeatable", repeatable: true },
  ],
  fields: ["name", "version", "etag", "editable", "problem", "fields", "env", "secrets", "yaml"],
  examples: [
    ["runtimectl workers config @team/app", "show each value and where it comes from"],
    ["runtimectl workers config @team/app --set memory=256mb --set timeout=5s", "change two fields"],
    ["runtimectl workers config @team/app@1.2.0 --set env.GREETING=hello", "change one variable of one version"],
    ["runtimectl workers config @team/app --unset timeout", "use the default again"],
  ],
  notes:
    "A change is in effect for the next request; running isolates finish their requests. The next upload of the version replaces it.\n" +
    "Values are YAML: 5, true, [a, b]. Values of variables are always text. Store passwords with: runtimectl secrets set",
  async run(context, [reference], options) {
    const changes = fieldChanges(options);
    const { name, version: given } = parsePackageReference(reference);
    const connection = await connect(context, { workers: { list }, workerConfig: { show: showOfWorker, change: changeOfWorker } });
    const version = given ?? (await readActiveVersion(connection, name));
    const params = { ...toPathSegments(name), version };
    let config = await connection.client.workerConfig.show({ params });
    if (changes.length > 0) {
      const set = await setOf(config, changes);
      config = await connection.client.workerConfig.change({ params, body: { etag: config.etag, set } });
      context.output.note(`${name}@${version} changed: ${Object.keys(set).join(", ")}`);
    }
    const rows = [
      ...fieldRows(config.fields),
      ...config.env.map(({ name: variable, value }) => [variablePrefix + variable, value ?? "(hidden)", "manifest", ""]),
    ];
    context.output.table({ name, version, ...config }, configHeadings, rows);
    if (config.problem !== undefined) context.output.warn(config.problem);
  },
});

async function readActiveVersion(connection: Connection<{ workers: { list: typeof list } }>, name: string): Promise<string> {
  const active = activeVersionOf((await findWorker(connection, name)).versions);
  if (active) return active.version;
  throw usageError(`no version of ${name} is enabled`, `to select a version: runtimectl workers config ${name}@VERSION`);
}

/**
 * Returns the new values by field. A change of one variable replaces the field `env`, so the result contains all variables of the worker.
 */
async function setOf(config: WorkerConfig, changes: readonly FieldChange[]): Promise<Record<string, unknown>> {
  const ofVariables = changes.filter(({ field }) => field.startsWith(variablePrefix));
  const set = await newValues(changes.filter((change) => !ofVariables.includes(change)));
  if (ofVariables.length === 0) return set;
  const others = "env" in set ? (set["env"] as Record<string, string> | null) : variablesOf(config);
  const env = new Map(Object.entries(others ?? {}));
  for (const { field, text } of ofVariables) {
    const variable = field.slice(variablePrefix.length);
    if (text === undefined) env.delete(variable);
    else env.set(variable, text);
  }
  return { ...set, env: Object.fromEntries(env) };
}

/**
 * Returns the variables in the manifest. Throws if the key cannot read the values, because a change without the values would delete them.
 */
function variablesOf({ env }: WorkerConfig): Record<string, string> {
  return Object.fromEntries(
    env.map(({ name, value }) => {
      if (value !== null) return [name, value] as const;
      throw usageError(
        "variables of this worker cannot be changed, because the key is not allowed to read their values",
        "use a key with workers:install",
      );
    }),
  );
}
