import * as z from "zod";

/** Types of changes that clients make through the API. The part of a type before the dot is the resource. */
export const changeTypes = [
  "worker.installed",
  "worker.enabled",
  "worker.disabled",
  "worker.restarted",
  "worker.deleted",
  "worker.version-deleted",
  "worker.files-changed",
  "worker.data-removed",
  "worker.cron-run",
  "worker.isolate-stopped",
  "plugin.installed",
  "plugin.reloaded",
  "plugin.enabled",
  "plugin.disabled",
  "plugin.deleted",
  "plugin.files-changed",
  "key.created",
  "key.rotated",
  "key.revoked",
  "host.added",
  "host.removed",
  "secret.set",
  "secret.removed",
  "secret.key-rotated",
  "instance.drained",
  "instance.undrained",
  "session.opened",
  "index.resynced",
] as const;
export type ChangeType = (typeof changeTypes)[number];

/** The API key with which a client made a change. Contains only the prefix of the key. This prefix is not secret. */
export const ChangePrincipal = z.object({
  id: z.int().describe("Key id; 0 for root"),
  name: z.string(),
  keyPrefix: z.string(),
});
export type ChangePrincipal = z.output<typeof ChangePrincipal>;

export const ChangeSubject = z.object({
  name: z.string().optional().describe("Name of the worker, plugin, key or daemon"),
  version: z.string().optional(),
  host: z.string().optional().describe("Host name that was added or removed; `name` is its worker"),
  secret: z.string().optional().describe("Name of the secret; `name` is its worker, or `namespaces` its namespace"),
  id: z.int().optional().describe("Id of the key"),
  paths: z.array(z.string()).optional().describe("The first of the changed files, as `<directory>/<relative path>`"),
  namespaces: z.array(z.string()).optional().describe("Namespaces of the key, of the key that signed in, or of the secret"),
  cronIndex: z.int().optional().describe("Position of the cron job in the manifest, from 0; `name` is its worker"),
  pid: z.int().optional().describe("Process id of the isolate; `name` is its worker"),
  replacedBy: z.int().optional().describe("Id of the replacement of a rotated key"),
});
export type ChangeSubject = z.output<typeof ChangeSubject>;

/** Returns the resource of a change or event, which is the part of the type before the dot. */
export function nounOf<Type extends string>(type: Type): Type extends `${infer Noun}.${string}` ? Noun : never {
  return type.slice(0, type.indexOf(".")) as never;
}

/**
 * Returns the schema of a query parameter that contains types, separated by commas. A resource such as `worker` selects all types of the
 * resource. `aliases` contains the current name for each earlier type name.
 */
export function typeListOf(types: readonly string[], aliases: Readonly<Record<string, string>> = {}) {
  const accepted = new Set([...types, ...types.map((type) => nounOf(type))]);
  const isAccepted = (entry: string) => accepted.has(entry) || Object.hasOwn(aliases, entry);
  return z
    .string()
    .refine((text) => text.split(",").every(isAccepted), `must be a list, separated by commas, of: ${[...accepted].join(", ")}`)
    .transform((text) => text.split(",").map((entry) => aliases[entry] ?? entry))
    .optional();
}

/**
 * Returns true if a query selects entries of this type. `wanted` contains the types and resources of the query. If `wanted` is undefined,
 * the query selects all types.
 */
export function isWantedType(type: string, wanted: readonly string[] | undefined): boolean {
  return wanted === undefined || wanted.includes(type) || wanted.includes(nounOf(type));
}
