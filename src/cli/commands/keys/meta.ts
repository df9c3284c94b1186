import { defineCommand } from "../../command.js";
import { connect } from "../../connection.js";

export const command = defineCommand<[]>({
  examples: [["runtimectl keys meta", "each role with its permissions"]],
  async run(context) {
    const { client } = await connect(context);
    const meta = await client.keys.meta();
    const rows = meta.roles.map((role) => [role, meta.rolePermissions[role].join(" ") || "those chosen by --permission"]);
    context.output.table(meta, ["ROLE", "PERMISSIONS"], rows);
  },
});
