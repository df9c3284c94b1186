import { list } from "../../../shared/contract/keys.js";
import { defineCommand } from "../../command.js";
import { connect } from "../../connection.js";
import { timeFields, toDay } from "../../dates.js";

export const command = defineCommand<[]>({
  examples: [
    ["runtimectl keys list", "who may do what, and until when"],
    ["runtimectl keys list --json", "with permissions, as a document"],
  ],
  notes: "Secrets are never listed. Revoked keys are gone; expired ones stay until they are revoked.",
  async run(context) {
    const { client } = await connect(context, { keys: { list } });
    const { keys } = await client.keys.list();
    const nowSeconds = Date.now() / 1000;
    const documents = keys.map(({ createdAt, lastUsedAt, expiresAt, ...key }) => ({
      ...key,
      ...timeFields("createdAt", createdAt),
      ...timeFields("lastUsedAt", lastUsedAt),
      ...timeFields("expiresAt", expiresAt),
      expired: expiresAt !== undefined && expiresAt <= nowSeconds,
    }));
    const rows = keys.map((key) => [
      String(key.id),
      key.name,
      key.role,
      key.keyPrefix,
      key.namespaces.join(" "),
      key.expiresAt === undefined ? "never" : `${toDay(key.expiresAt)}${key.expiresAt <= nowSeconds ? " (expired)" : ""}`,
      key.lastUsedAt === undefined ? "never" : toDay(key.lastUsedAt),
    ]);
    context.output.table({ keys: documents }, ["ID", "NAME", "ROLE", "PREFIX", "NAMESPACES", "ENDS", "LAST USED"], rows);
    if (rows.length === 0) context.output.footer("no keys yet; make one with: runtimectl keys create --role editor");
  },
});
