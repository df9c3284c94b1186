import { list, type ApiKey } from "../../../shared/contract/keys.js";
import { ago, endsIn, timeFields, toDateTime, toMinute } from "../../output/format.js";
import { show } from "../../../shared/contract/session.js";
import { CommandError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { exitCodes } from "../../command/exit-codes.js";
import { parseKeyId } from "./key-id.js";

/** The fields of the JSON document that `keyDocument` returns. */
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
    ["runtimectl keys show 7", "show permissions, expiry and last use of key 7"],
    ["runtimectl keys show 7 --json | jq -r .expiresAt", "print the expiry"],
  ],
  notes: "The secret is shown only when the key is created.",
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
      ["key", `${id}${id === principal.id ? ", your own key" : ""}`],
      ["name", key.name],
      ["prefix", key.keyPrefix],
      ["role", key.role],
      ["permissions", key.permissions.join(" ")],
      ["namespaces", key.namespaces.join(" ")],
      ["created", time(key.createdAt, ago)],
      ["last used", key.lastUsedAt === undefined ? "never" : time(key.lastUsedAt, ago)],
      ["expires", key.expiresAt === undefined ? "never" : time(key.expiresAt, endsIn)],
    ]);
  },
});

/**
 * Returns the JSON document of a key, with times as text and as Unix seconds. `ownId` is the id of the key that the command uses. The field
 * `own` marks this key.
 */
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

/** Returns the expiry of a key for a table: the remaining time on a terminal, an RFC 3339 time in a pipe. */
export function endCell({ expiresAt }: Pick<ApiKey, "expiresAt">, isForPeople: boolean): string {
  if (expiresAt === undefined) return "never";
  return isForPeople ? endsIn(expiresAt, Date.now()) : toDateTime(expiresAt);
}

/** Returns the time of the last use of a key for a table. */
export function lastUseCell({ lastUsedAt }: Pick<ApiKey, "lastUsedAt">, isForPeople: boolean): string {
  if (lastUsedAt === undefined) return "never";
  return isForPeople ? ago(lastUsedAt, Date.now()) : toDateTime(lastUsedAt);
}

function isExpired(expiresAt: number | undefined): boolean {
  return expiresAt !== undefined && expiresAt <= Date.now() / 1000;
}
