import * as z from "zod";
import type { ConfigFault, ConfigField } from "../../../shared/contract/configuration.js";
import { nearestWord } from "../../../shared/nearest-word.js";
import { parseSizeBytes, writtenSize } from "../../../shared/size.js";
import { mostInstances, WorkerManifest } from "../../../shared/worker-manifest.js";
import { issueText, validationMessage } from "../../../shared/validation-message.js";

export type ManifestFields = Readonly<Record<string, unknown>>;
type FieldName = keyof typeof WorkerManifest.shape;

/** Limits of this daemon for the values in worker manifests. */
export interface WorkerLimits {
  readonly workerMemoryMaxBytes: number;
  readonly maxBodySizeBytes: number;
  readonly workerDataMaxBytes: number;
  /** Maximum number of isolates of the daemon. */
  readonly poolSize: number;
  readonly permissions: readonly string[];
  readonly networkMode: string;
}

/** Rules of this daemon for worker manifests. */
export interface WorkerRules {
  readonly limits: WorkerLimits;
  /**
   * Returns the reason why this daemon would not serve a worker with this manifest. Returns undefined if the daemon would serve the worker.
   */
  readonly refusal: (manifest: WorkerManifest, name: string) => string | undefined;
  /**
   * Returns the reason why the daemon does not allow a host name for any worker. Returns undefined if an operator can add the host name.
   */
  readonly hostProblem: (host: string) => string | undefined;
}

/** Fields of a manifest that are not in `WorkerManifest`. The configuration does not contain these fields. */
const otherFields = ["name", "version", "enabled", "description", "deploy"];
const fieldNames = Object.keys(WorkerManifest.shape) as FieldName[];
const noFields = WorkerManifest.parse({});
/** Defaults by name of the field, in the form of the manifest, such as `30s`. */
const defaults = new Map(
  Object.entries(z.toJSONSchema(WorkerManifest, { io: "input", unrepresentable: "any" }).properties ?? {}).map(
    ([name, property]) => [name, typeof property === "object" ? property.default : undefined] as const,
  ),
);

/**
 * Returns all configuration fields except `env`. `declared`: fields of the manifest. `inherited`: fields of package.json, which apply if
 * the manifest does not contain them.
 */
export function workerFields(rules: WorkerRules, name: string, declared: ManifestFields, inherited: ManifestFields): ConfigField[] {
  return fieldNames.filter((field) => field !== "env").map((field) => describeField(rules, { name, field, declared, inherited }));
}

function describeField(
  rules: WorkerRules,
  { name, field, declared, inherited }: { name: string; field: FieldName; declared: ManifestFields; inherited: ManifestFields },
): ConfigField {
  const own = declared[field] ?? inherited[field];
  const value = own ?? defaults.get(field) ?? null;
  const source = own === undefined ? ("default" as const) : ("manifest" as const);
  const limited = limitRules[field]?.(value, rules.limits) ?? { value };
  const problem = own === undefined ? undefined : fieldFaults(rules, name, field, own)[0]?.message;
  const origin = declared[field] === undefined && own !== undefined ? "The value is from package.json." : undefined;
  const note = [problem === undefined ? undefined : `The value is not accepted: ${problem}`, limited.note, origin]
    .filter(Boolean)
    .join(" ");
  return {
    name: field,
    value: limited.value,
    source: limited.isReplaced ? "limit" : source,
    ...(note !== "" && { note }),
    ...(limited.limit !== undefined && { limit: limited.limit }),
  };
}

interface Limited {
  readonly value: unknown;
  readonly limit?: unknown;
  readonly isReplaced?: boolean;
  readonly note?: string;
}

const limitRules: Partial<Readonly<Record<FieldName, (value: unknown, limits: WorkerLimits) => Limited>>> = {
  memory: (value, limits) => limitedSize(value, limits.workerMemoryMaxBytes, "RUNTIME_WORKER_MEMORY_MAX"),
  maxBodySize: (value, limits) => limitedSize(value, limits.maxBodySizeBytes, "RUNTIME_MAX_BODY_SIZE"),
  data: (value, limits) => ({ value, limit: writtenSize(limits.workerDataMaxBytes) }),
  instances: (value, { poolSize }) => {
    const limit = Math.min(poolSize, mostInstances);
    return typeof value === "number" && value > poolSize
      ? { value: limit, limit, isReplaced: true, note: `RUNTIME_POOL_SIZE allows ${poolSize} isolates; the manifest requests ${value}.` }
      : { value, limit };
  },
  permissions: (value, { permissions }) => ({ value, limit: permissions.filter((permission) => permission !== "network") }),
  network: (value, { networkMode }) => limitedNetwork(value, networkMode),
};

function limitedSize(value: unknown, limitBytes: number, variable: string): Limited {
  const limit = writtenSize(limitBytes);
  const bytes = typeof value === "string" || typeof value === "number" ? parseSizeBytes(value) : undefined;
  if (bytes === undefined || bytes <= limitBytes) return { value, limit };
  return {
    value: limit,
    limit,
    isReplaced: true,
    note: `${variable} allows at most ${limit}; the worker would otherwise have ${String(value)}.`,
  };
}

function limitedNetwork(value: unknown, mode: string): Limited {
  const limit = { mode };
  if (value === null) return { value: { mode, allow: [] }, limit, note: "The mode is that of RUNTIME_WORKER_NETWORK." };
  const isWithoutMode = typeof value === "object" && !("mode" in value);
  return isWithoutMode ? { value: { mode, ...value }, limit, note: "The mode is that of RUNTIME_WORKER_NETWORK." } : { value, limit };
}

/** Returns the reasons why the schema or this daemon rejects a value of one field. Returns an empty list for an accepted value. */
export function fieldFaults(rules: WorkerRules, name: string, field: FieldName, value: unknown): (ConfigFault & { keys: PropertyKey[] })[] {
  const parsed = WorkerManifest.shape[field].safeParse(value, { error: validationMessage });
  if (!parsed.success) {
    return parsed.error.issues.map((issue) => ({
      name: field,
      message: issue.path.length === 0 ? issue.message : issueText(issue),
      keys: [field, ...issue.path],
    }));
  }
  const reserved = field === "hosts" ? (parsed.data as string[]).map((host) => rules.hostProblem(host)) : [];
  const problems = [rules.refusal({ ...noFields, [field]: parsed.data }, name), ...reserved].filter((problem) => problem !== undefined);
  return problems.map((message) => ({ name: field, message, keys: [field] }));
}

export function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(WorkerManifest.shape, name);
}

/** Returns the error message for a name that is not a field of the configuration. */
export function unknownField(name: string): string {
  if (otherFields.includes(name)) return "is not a setting that can be changed here";
  const nearest = nearestWord(name, fieldNames);
  return `is not a field of a worker manifest${nearest === undefined ? "" : ` (did you mean ${nearest}?)`}`;
}

/** Returns true if the daemon or `runtimectl` uses a top-level manifest field with this name. */
export function isKnownField(name: string): boolean {
  return isFieldName(name) || otherFields.includes(name);
}
