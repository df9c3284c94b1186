import type { Client } from "../../../shared/client.js";
import { toPathSegments } from "../../../shared/package-name.js";
import { CommandError } from "../../command/command-error.js";
import { activeVersionOf, type InstalledWorker } from "../../../shared/worker-versions.js";
import { planRollback, type RollbackPlan } from "../../commands/workers/rollback-plan.js";
import { pluralize } from "../../output/format.js";
import { runLine } from "../palette/run-line.js";
import type { Session } from "../session/session.js";
import type { Action } from "./action.js";

/** A row of the screen Workers: one version of a worker. */
export interface WorkerVersion {
  readonly name: string;
  readonly version: string;
  readonly isEnabled: boolean;
  readonly source: "built-in" | "uploaded";
  readonly isRemovable: boolean;
  /** The worker to which the version belongs, with all of its versions. */
  readonly worker: InstalledWorker;
}

const builtIn = ({ name, isRemovable }: WorkerVersion) => (isRemovable ? undefined : `${name} is built in and cannot be changed`);

export const toggleVersion: Action<WorkerVersion> = {
  id: "workers.toggle",
  line: ({ name, version, isEnabled }) => `runtimectl workers ${isEnabled ? "disable" : "enable"} ${name}@${version}`,
  permission: "workers:install",
  refusal: builtIn,
  confirmation: (target, isProduction) => {
    const { name, version, isEnabled, worker } = target;
    if (!isEnabled) return isProduction ? { consequence: `Enable ${name} ${version}` } : undefined;
    const next = activeVersionOf(worker.versions.filter((other) => other.version !== version));
    if (next === undefined) return { consequence: `Disable ${name} ${version}, its only enabled version; /${name}/ will respond with 404` };
    return isProduction ? { consequence: `Disable ${name} ${version}; ${next.version} is then the active version` } : undefined;
  },
  run: (client, target) => setEnabled(client, target, !target.isEnabled),
  undo: (client, target) => setEnabled(client, target, target.isEnabled),
};

export const restartVersion: Action<WorkerVersion> = {
  id: "workers.restart",
  line: ({ name, version }) => `runtimectl workers restart ${name}@${version}`,
  permission: "workers:restart",
  refusal: ({ name, version, isEnabled }) => (isEnabled ? undefined : `${name} ${version} is disabled`),
  run: async (client, target) => {
    const { data } = await client.workers.restart({ params: params(target) });
    return `${data.name} ${data.version} restarted; ${pluralize(data.restarted, "isolate")} replaced`;
  },
};

export const rollbackWorker: Action<WorkerVersion> = {
  id: "workers.rollback",
  line: ({ name }) => `runtimectl workers rollback ${name}`,
  permission: "workers:install",
  refusal: (target) => {
    const plan = rollbackPlan(target);
    return plan instanceof CommandError ? plan.message : undefined;
  },
  confirmation: (target, isProduction) => {
    const plan = rollbackPlan(target);
    if (!isProduction || plan instanceof CommandError) return undefined;
    return { consequence: `Roll ${target.name} back from ${plan.from?.version ?? "no version"} to ${plan.to.version}` };
  },
  run: (_client, target, session) => rollBack(session, target),
  undo: async (client, target) => {
    const plan = rollbackPlan(target);
    if (plan instanceof CommandError) throw plan;
    for (const { version } of plan.inTheWay) await setEnabled(client, { ...target, version }, true);
    if (!plan.to.enabled) await setEnabled(client, { ...target, version: plan.to.version }, false);
    return `${target.name}: ${plan.from?.version} is the active version again`;
  },
};

export const deleteVersion: Action<WorkerVersion> = {
  id: "workers.delete",
  line: ({ name, version }) => `runtimectl workers delete ${name}@${version}`,
  permission: "workers:remove",
  refusal: builtIn,
  confirmation: ({ name, version, worker }) => {
    const others = worker.versions.length - 1;
    if (others === 0) return { consequence: `Delete ${name} ${version}, its only version; /${name}/ will respond with 404`, name };
    return {
      consequence: `Delete 1 version of ${name}, ${version}; ${pluralize(others, "version")} will remain`,
    };
  },
  run: async (client, { name, version }) => {
    await client.workers.removeVersion({ params: params({ name, version }) });
    return `${name} ${version} deleted`;
  },
};

export const deleteWorker: Action<WorkerVersion> = {
  id: "workers.deleteAll",
  line: ({ name }) => `runtimectl workers delete ${name}`,
  permission: "workers:remove",
  refusal: builtIn,
  confirmation: ({ name, worker }) => {
    const removed = worker.versions.filter(({ source }) => source === "uploaded").length;
    const isAll = removed === worker.versions.length;
    return {
      consequence: `Delete ${name}, ${isAll ? "all versions" : "all uploaded versions"} (${removed})${isAll ? `; /${name}/ will respond with 404` : ""}`,
      name,
    };
  },
  run: async (client, { name }) => {
    await client.workers.remove({ params: toPathSegments(name) });
    return `${name} and its uploaded versions deleted`;
  },
};

/** Returns the plan of a rollback. If no rollback is possible, returns an error with the reason. */
function rollbackPlan({ worker }: WorkerVersion): RollbackPlan | CommandError {
  try {
    return planRollback(worker, undefined);
  } catch (error) {
    if (error instanceof CommandError) return error;
    throw error;
  }
}

/** Runs the rollback command. The command checks the previous version before this version becomes active. */
async function rollBack({ context }: Session, { name }: WorkerVersion): Promise<string> {
  const { lines, exitCode } = await runLine(`workers rollback ${name}`, context, { signal: context.signal, isAccessible: false });
  if (exitCode === 0) return lines.find((line) => line.startsWith(name)) ?? `${name} rolled back`;
  throw new Error((lines[0] ?? "the rollback failed").replace(/^error: /, ""));
}

async function setEnabled(client: Client, target: WorkerVersion, isEnabled: boolean): Promise<string> {
  const { data } = await client.workers[isEnabled ? "enable" : "disable"]({ params: params(target) });
  return `${data.name} ${data.version} is ${data.enabled ? "enabled" : "disabled"}`;
}

function params({ name, version }: Pick<WorkerVersion, "name" | "version">) {
  return { ...toPathSegments(name), version };
}
