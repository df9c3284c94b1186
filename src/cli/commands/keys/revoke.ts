import { ApiError } from "../../../shared/api-error.js";
import { list, revoke, type ApiKey } from "../../../shared/contract/keys.js";
import { usageError } from "../../command-error.js";
import { defineCommand } from "../../command.js";
import { connect, type Connection } from "../../connection.js";
import { confirmDestruction } from "../../prompts.js";

export const command = defineCommand<[id: string]>({
  arguments: [{ syntax: "<id>", description: "The key's id, from runtimectl keys list" }],
  examples: [
    ["runtimectl keys revoke 7", "end key 7 for good, after its name is typed"],
    ["runtimectl keys revoke 7 --yes", "unasked"],
  ],
  notes: "Cannot be undone. A key cannot revoke itself.",
  async run(context, [id]) {
    if (!/^[1-9]\d*$/.test(id)) throw usageError(`${JSON.stringify(id)} is not a key's id`, "runtimectl keys list");
    const connection = await connect(context, { keys: { list, revoke } });
    const key = await findKey(connection, Number(id));
    const name = key?.name ?? id;
    await confirmDestruction(context, {
      consequence: `Revoke key ${id}${key ? ` (${key.name}, ${key.role}, ${key.keyPrefix}…)` : ""}`,
      name,
      settings: connection.settings,
    });
    await connection.client.keys.revoke({ params: { id } });
    context.output.note(`revoked key ${id}${key ? ` (${key.name})` : ""}`);
    context.output.result({ id: Number(id), ...(key ? { name: key.name } : {}), revoked: true });
  },
});

/** What the question shows; whoever may revoke need not be allowed to list. */
async function findKey({ client }: Connection<{ keys: { list: typeof list } }>, id: number): Promise<ApiKey | undefined> {
  try {
    return (await client.keys.list()).keys.find((key) => key.id === id);
  } catch (error) {
    if (error instanceof ApiError && error.code === "PERMISSION_DENIED") return undefined;
    throw error;
  }
}
