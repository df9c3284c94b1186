import { show } from "../../../shared/contract/hosts.js";
import { connect } from "../../client/connection.js";
import { defineCommand } from "../../command/command.js";
import { ago } from "../../output/format.js";

export const command = defineCommand<[host: string]>({
  arguments: [{ syntax: "<host>", description: "The host name, from runtimectl hosts list" }],
  fields: ["host", "worker", "version", "createdAt", "createdBy"],
  examples: [
    ["runtimectl hosts show shop.example.org", "the worker of a host name"],
    ["runtimectl hosts show shop.example.org --json | jq -r .worker", "only its name"],
  ],
  async run(context, [host]) {
    const { client } = await connect(context, { hosts: { show } });
    const found = await client.hosts.show({ params: { host } });
    context.output.table(
      found,
      ["WORKER", "VERSION", "ADDED", "BY"],
      [[found.worker, found.version ?? "active", ago(found.createdAt, Date.now()), found.createdBy]],
    );
  },
});
