import type { HealthCheck } from "./contract/health.js";
import type { Instance } from "./contract/instances.js";
import type { ApiKey } from "./contract/keys.js";
import type { Plugin } from "./contract/plugins.js";
import { withoutReplaced } from "./instance-list.js";
import type { LastError, WorkerHealth } from "./contract/worker-health.js";

/** An API key counts as an incident from this number of days before its expiry. */
export const expiryNoticeDays = 14;
const daySeconds = 86_400;
/** Number of daemons whose problems an incident names. */
const mostNamedInstances = 3;

/**
 * Health checks whose failure an operator must repair. Failed checks of the set-up of the daemon are less urgent: `setUpProblems` returns
 * them.
 */
const urgentChecks: ReadonlySet<HealthCheck["name"]> = new Set([
  "key-store",
  "key-replica",
  "worker-directory",
  "secrets-key",
  "disk-space",
]);

/**
 * Health checks that describe how the daemon is set up: missing isolation layers, and settings that let keys exceed their permissions. The
 * panel shows a failure as a notice, because workers still serve requests.
 */
const settingChecks = /^(?:isolation:|panel-origin$|plugin-uploads$)/;

/** Severities of incidents, the most severe first. */
export const incidentStates = ["failing", "backoff", "degraded"] as const;

/** A problem that an operator must repair. */
export interface Incident {
  readonly kind: "worker" | "plugin" | "check" | "key" | "instance";
  readonly state: (typeof incidentStates)[number];
  /** Name of the worker, plugin, health check or key. For daemons: their number and state, such as `1 of 3 instances is unreachable`. */
  readonly subject: string;
  /** Active version of the worker. Only for workers. */
  readonly version?: string | undefined;
  /** Start of the incident in Unix seconds. Only for workers and plugins. */
  readonly since?: number | undefined;
  /** True if the incident began earlier, at an unknown time. `since` is then a start of the daemon. */
  readonly isSinceStart?: boolean | undefined;
  /** The deployment after which the incident began. Only for workers. */
  readonly suspect?: WorkerHealth["suspect"];
  /** Cause of the incident, in one sentence. */
  readonly reason: string;
  /**
   * The last error with its position in the source code, such as `no such order (index.js:3)`. Undefined if `reason` already contains the
   * error.
   */
  readonly error?: string | undefined;
  /** The daemons on which the worker has the problem, as a sentence. Undefined if there is only one daemon. */
  readonly where?: string | undefined;
  /** The version that becomes active if the operator rolls back the worker. */
  readonly rollbackTo?: string | undefined;
  /** Id of the API key that expires. Only for keys. */
  readonly keyId?: number | undefined;
}

/** The fields of a daemon that decide whether the daemon is an incident. */
export type ListedInstance = Pick<Instance, "name" | "id" | "state" | "problem">;

type ExpiringKey = Pick<ApiKey, "id" | "name" | "role" | "namespaces" | "createdAt" | "expiresAt">;

/** The data from which incidents are derived. A list is undefined if the caller is not allowed to read its data. */
export interface IncidentSources {
  readonly workers?: readonly WorkerHealth[] | undefined;
  readonly plugins?: readonly Pick<Plugin, "name" | "health">[] | undefined;
  readonly checks?: readonly HealthCheck[] | undefined;
  readonly keys?: readonly ExpiringKey[] | undefined;
  readonly instances?: readonly ListedInstance[] | undefined;
  readonly nowSeconds: number;
}

/** Returns all current incidents, the most severe first. Within a severity, the most recent incident is first. */
export function incidentsOf({
  workers = [],
  plugins = [],
  checks = [],
  keys = [],
  instances = [],
  nowSeconds,
}: IncidentSources): Incident[] {
  const found = [
    ...checks.flatMap(checkIncident),
    ...instanceIncidents(instances),
    ...workers.flatMap(workerIncident),
    ...plugins.flatMap(pluginIncident),
    ...keys.filter((key) => !isReplaced(key, keys)).flatMap((key) => keyIncident(key, nowSeconds)),
  ];
  return found.toSorted((one, other) => rank(one) - rank(other) || (other.since ?? 0) - (one.since ?? 0));
}

/** Returns the health checks of the set-up of the daemon that report a problem. */
export function setUpProblems(checks: readonly HealthCheck[] = []): HealthCheck[] {
  return checks.filter(({ name, status }) => status !== "ok" && settingChecks.test(name));
}

/** Formats the last error of a worker or plugin with its position in the source code, such as `no such order (index.js:3)`. */
export function describeError({ message, file, line }: LastError): string {
  if (file === undefined) return message;
  const position = line === undefined ? file : `${file}:${line}`;
  return message.includes(position) ? message : `${message} (${position})`;
}

/** Returns the daemons on which a worker has a problem, as a sentence such as `On eu-2.`. Returns undefined if there is only one daemon. */
export function affectedInstances({ instances = [] }: Pick<WorkerHealth, "instances">): string | undefined {
  const known = instances.flatMap(({ name, state }) => (state === undefined ? [] : { name, state }));
  const affected = known.filter(({ state }) => isProblem(state)).map(({ name }) => name);
  if (affected.length === 0) return undefined;
  if (affected.length === known.length && known.length > 1) return `On all ${known.length} instances.`;
  const others = affected.length - mostNamedInstances;
  return `On ${affected.slice(0, mostNamedInstances).join(", ")}${others > 0 ? ` and ${others} more` : ""}.`;
}

function workerIncident(health: WorkerHealth): Incident[] {
  const { name, version, state, since, isSinceStart, suspect, reason, lastError, rollbackTo } = health;
  if (!isProblem(state)) return [];
  const error = lastError && describeError(lastError);
  return [
    {
      kind: "worker",
      state,
      subject: name,
      version: version ?? undefined,
      since,
      isSinceStart,
      suspect,
      reason: reason ?? state,
      error: lastError && reason?.includes(lastError.message) ? undefined : error,
      where: affectedInstances(health),
      rollbackTo,
    },
  ];
}

function pluginIncident({ name, health }: Pick<Plugin, "name" | "health">): Incident[] {
  const { state, since, isSinceStart, reason, lastError } = health;
  if (!isProblem(state)) return [];
  const error = lastError && describeError(lastError);
  const isNamed = lastError !== undefined && reason?.includes(lastError.message);
  return [{ kind: "plugin", state, subject: name, since, isSinceStart, reason: reason ?? state, error: isNamed ? undefined : error }];
}

function checkIncident({ name, status, message }: HealthCheck): Incident[] {
  if (status === "ok" || !urgentChecks.has(name)) return [];
  return [{ kind: "check", state: status === "failed" ? "failing" : "degraded", subject: name, reason: message ?? status }];
}

/**
 * Returns one incident for all unreachable daemons, and one for all daemons with the state `gone`. A daemon with the state `gone` is no
 * incident if a daemon with another state has the same name.
 */
function instanceIncidents(instances: readonly ListedInstance[]): Incident[] {
  const counted = withoutReplaced(instances);
  return (["unreachable", "gone"] as const).flatMap((state): Incident[] => {
    const found = counted.filter((instance) => instance.state === state);
    if (found.length === 0) return [];
    const named = found.slice(0, mostNamedInstances).map(({ name, problem }) => `${name}: ${problem ?? `It is ${state}.`}`);
    const others = found.length - named.length;
    return [
      {
        kind: "instance",
        state: "degraded",
        subject: `${found.length} of ${counted.length} instances ${found.length === 1 ? "is" : "are"} ${state}`,
        reason: [...named, ...(others > 0 ? [`${others} more.`] : [])].join(" "),
      },
    ];
  });
}

/** Returns whether a newer key has the same name, role and namespaces, as after a rotation. */
function isReplaced(key: ExpiringKey, keys: readonly ExpiringKey[]): boolean {
  const grantOf = ({ name, role, namespaces }: ExpiringKey) => JSON.stringify([name, role, namespaces]);
  return keys.some((other) => other.id > key.id && grantOf(other) === grantOf(key));
}

function keyIncident({ id, name, createdAt, expiresAt }: ExpiringKey, nowSeconds: number): Incident[] {
  if (expiresAt === undefined || expiresAt - nowSeconds > expiryNoticeDays * daySeconds) return [];
  // A key for one day or less is meant to expire.
  if (expiresAt - createdAt <= daySeconds) return [];
  const isExpired = expiresAt <= nowSeconds;
  const days = Math.floor((expiresAt - nowSeconds) / daySeconds);
  const left = days >= 2 ? `${days} days` : `${Math.max(1, Math.round((expiresAt - nowSeconds) / 3600))} h`;
  return [
    {
      kind: "key",
      state: isExpired ? "failing" : "degraded",
      subject: name,
      reason: isExpired ? "The key has expired." : `The key expires in ${left}.`,
      keyId: id,
    },
  ];
}

function isProblem(state: WorkerHealth["state"]): state is Incident["state"] {
  return (incidentStates as readonly string[]).includes(state);
}

function rank({ kind, state }: Incident): number {
  // Incidents about API keys come last, because an expired key does not stop a worker or plugin.
  return (kind === "key" ? incidentStates.length : 0) + incidentStates.indexOf(state);
}
