import { ApiError } from "../../../shared/api-error.js";
import { list, revoke, type ApiKey } from "../../../shared/contract/keys.js";
import { runBatch } from "../../command/run-batch.js";
import { defineCommand } from "../../command/command.js";
import { connect, type Connection } from "../../client/connection.js";
import { pluralize, endOn } from "../../output/format.js";
import { confirmDestruction } from "../../output/prompts.js";
import { parseKeyId } from "./key-id.js";

export const command = defineCommand<[ids: readonly string[]]>({
  arguments: [{ syntax: "<id...>", description: "The ids of the keys, from runtimectl keys list" }],
  fields: ["id", "name", "revoked", "error"],
  examples: [
    ["runtimectl keys revoke 7", "revoke key 7, after you type its name"],
    ["runtimectl keys revoke 7 8 9 --yes", "revoke three keys without confirmation"],
    ["runtimectl keys revoke 7 --confirm prod", "confirm for the production profile prod"],
  ],
  notes: "Cannot be undone. A key cannot revoke itself. If some keys cannot be revoked, the others still are, and the exit code is 9.",
  async run(context, [texts]) {
    const ids = [...new Set(texts.map(parseKeyId))];
    const connection = await connect(context, { keys: { list, revoke } });
    const known = await knownKeys(connection);
    const items = ids.map((id) => {
      const key = known.find((one) => one.id === id);
      return { id, key, label: `key ${id}${key ? ` (${key.name})` : ""}`, fields: { id, ...(key ? { name: key.name } : {}) } };
    });
    const [first] = items;
    await confirmDestruction(context, {
      consequence: `Revoke ${items.map(({ id, key }) => `key ${id}${key ? ` (${describe(key)})` : ""}`).join(", ")}`,
      name: items.length === 1 ? (first?.key?.name ?? String(first?.id)) : pluralize(items.length, "key"),
      settings: connection.settings,
    });
    await runBatch(context, {
      items,
      noun: "keys",
      done: "revoked",
      act: ({ id }) => connection.client.keys.revoke({ params: { id: String(id) } }),
    });
  },
});

function describe(key: ApiKey): string {
  const end = key.expiresAt === undefined ? "never expires" : `expires ${endOn(key.expiresAt, Date.now())}`;
  return `${key.name}, ${key.role}, ${key.keyPrefix}…, ${end}`;
}

/**
 * Returns all keys, so that the confirmation can show their names. Returns no keys if the key in use has the permission keys:revoke but not
 * keys:read.
 */
async function knownKeys({ client }: Connection<{ keys: { list: typeof list } }>): Promise<readonly ApiKey[]> {
  try {
    return (await client.keys.list()).keys;
  } catch (error) {
    if (error instanceof ApiError && error.code === "PERMISSION_DENIED") return [];
    throw error;
  }
}
