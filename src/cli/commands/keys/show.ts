import { list, type ApiKey } from "../../../shared/contract/keys.js";
import { ago, endsIn, timeFields, toDateTime, toMinute } from "../../output/format.js";
import { show } from "../../../shared/contract/session.js";
import { CommandError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { exitCodes } from "../../command/exit-codes.js";
import { parseKeyId } from "./key-id.js";

/** What `keyDocument` may have. */
export const keyFields = [
  "id",
  "name",
  "keyPrefix",
  "role",
  "permissions",
  "namespaces",
  "createdAt",
  "createdAtSeconds",
  "lastUsedAt",
  "lastUsedAtSeconds",
  "expiresAt",
  "expiresAtSeconds",
  "expired",
  "own",
] as const;

export const command = defineCommand<[id: string]>({
  arguments: [{ syntax: "<id>", description: "The key's id, from runtimectl keys list" }],
  fields: keyFields,
  examples: [
    ["runtimectl keys show 7", "what key 7 may do, until when, and when it was last used"],
    ["runtimectl keys show 7 --json | jq -r .expiresAt", "when it ends"],
  ],
  notes: "The key itself is shown only when it is made.",
  async run(context, [text]) {
    const id = parseKeyId(text);
    const { client } = await connect(context, { keys: { list }, session: { show } });
    const [{ keys }, { principal }] = await Promise.all([client.keys.list(), client.session.show()]);
    const key = keys.find((one) => one.id === id);
    if (key === undefined)
      throw new CommandError("KEY_NOT_FOUND", `no active key has the id ${id}`, {
        exitCode: exitCodes.notFound,
        hint: "runtimectl keys list",
      });
    const time = (unixSeconds: number, relative: typeof ago) =>
      context.output.isAligned ? `${toMinute(unixSeconds)} (${relative(unixSeconds, Date.now())})` : toDateTime(unixSeconds);
    context.output.facts(keyDocument(key, principal.id), [
      ["key", `${id}${id === principal.id ? ", the one you sign in with" : ""}`],
      ["name", key.name],
      ["begins with", key.keyPrefix],
      ["role", key.role],
      ["may", key.permissions.join(" ")],
      ["namespaces", key.namespaces.join(" ")],
      ["made", time(key.createdAt, ago)],
      ["last used", key.lastUsedAt === undefined ? "never" : time(key.lastUsedAt, ago)],
      ["ends", key.expiresAt === undefined ? "never" : time(key.expiresAt, endsIn)],
    ]);
  },
});

/** A key in a document: times as text and as the numbers that the API gave; `own` is the key that the command signs in with. */
export function keyDocument({ createdAt, lastUsedAt, expiresAt, ...key }: ApiKey, ownId: number): Record<string, unknown> {
  return {
    ...key,
    own: key.id === ownId,
    ...timeFields("createdAt", createdAt),
    ...timeFields("lastUsedAt", lastUsedAt),
    ...timeFields("expiresAt", expiresAt),
    expired: isExpired(expiresAt),
  };
}

/** When a key ends, in a cell of a list: how long it is still valid for people, RFC 3339 for programs. */
export function endCell({ expiresAt }: Pick<ApiKey, "expiresAt">, isForPeople: boolean): string {
  if (expiresAt === undefined) return "never";
  return isForPeople ? endsIn(expiresAt, Date.now()) : toDateTime(expiresAt);
}

/** When a key was last used, in a cell of a list. */
export function lastUseCell({ lastUsedAt }: Pick<ApiKey, "lastUsedAt">, isForPeople: boolean): string {
  if (lastUsedAt === undefined) return "never";
  return isForPeople ? ago(lastUsedAt, Date.now()) : toDateTime(lastUsedAt);
}

function isExpired(expiresAt: number | undefined): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now() / 1000;
}
