import { meta } from "../../../shared/contract/keys.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";

export const command = defineCommand<[]>({
  fields: ["roles", "permissions", "rolePermissions"],
  examples: [["runtimectl keys meta", "list each role with its permissions"]],
  async run(context) {
    const { client } = await connect(context, { keys: { meta } });
    const known = await client.keys.meta();
    const rows = known.roles.map((role) => [role, known.rolePermissions[role].join(" ") || "the permissions of --permission"]);
    context.output.table(known, ["ROLE", "PERMISSIONS"], rows);
  },
});
