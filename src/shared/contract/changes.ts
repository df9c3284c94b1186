import * as z from "zod";

/** What a call of the API can change. The part before the dot says what it is about. */
export const changeTypes = [
  "worker.installed",
  "worker.enabled",
  "worker.disabled",
  "worker.restarted",
  "worker.deleted",
  "worker.version-deleted",
  "worker.files-changed",
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
  "session.opened",
] as const;
export type ChangeType = (typeof changeTypes)[number];

/** Who made a change; never the key itself. */
export const ChangePrincipal = z.object({
  id: z.int().describe("Key id; 0 for root"),
  name: z.string(),
  keyPrefix: z.string(),
});
export type ChangePrincipal = z.output<typeof ChangePrincipal>;

export const ChangeSubject = z.object({
  name: z.string().optional().describe("Of the worker, plugin or key"),
  version: z.string().optional(),
  host: z.string().optional().describe("Host name that was added or removed; `name` is its worker"),
  id: z.int().optional().describe("Of the key"),
  paths: z.array(z.string()).optional().describe("Of files that were changed: the first ones, `<mount>/<path below it>`"),
  namespaces: z.array(z.string()).optional().describe("Of the key, or of the one that signed in"),
  replacedBy: z.int().optional().describe("Id of the twin of a rotated key"),
});
export type ChangeSubject = z.output<typeof ChangeSubject>;

/** The part before the dot. */
export function nounOf<Type extends string>(type: Type): Type extends `${infer Noun}.${string}` ? Noun : never {
  return type.slice(0, type.indexOf(".")) as never;
}

/** Some of these types, separated by commas; a noun such as `worker` stands for all that begin with it. */
export function typeListOf(types: readonly string[]) {
  const accepted = new Set([...types, ...types.map((type) => nounOf(type))]);
  return z
    .string()
    .refine((text) => text.split(",").every((entry) => accepted.has(entry)), `takes, separated by commas: ${[...accepted].join(", ")}`)
    .transform((text) => text.split(","))
    .optional();
}

/** Whether a type is one of those that a query asks for. */
export function isWantedType(type: string, wanted: readonly string[] | undefined): boolean {
  return wanted === undefined || wanted.includes(type) || wanted.includes(nounOf(type));
}
