import { list } from "../../../shared/contract/hosts.js";
import { connect } from "../../client/connection.js";
import { defineCommand } from "../../command/command.js";
import { ago, pluralize } from "../../output/format.js";

const headings = ["HOST", "WORKER", "VERSION", "STATE", "ADDED", "BY"];

export const command = defineCommand<[]>({
  fields: ["hosts", "requested", "appDomain"],
  examples: [
    ["runtimectl hosts list", "the host names of workers, and those that manifests ask for"],
    ["runtimectl hosts list --json | jq -r '.requested[].host'", "those that no operator has added yet"],
  ],
  async run(context) {
    const { client } = await connect(context, { hosts: { list } });
    const { hosts, requested, appDomain } = await client.hosts.list();
    const rows = [
      ...hosts.map(({ host, worker, version, createdAt, createdBy }) => [
        host,
        worker,
        version ?? "active",
        "added",
        ago(createdAt, Date.now()),
        createdBy,
      ]),
      ...requested.map(({ host, worker }) => [host, worker, "-", "requested", "-", "-"]),
    ];
    context.output.table({ hosts, requested, ...(appDomain !== undefined && { appDomain }) }, headings, rows);
    const automatic = appDomain === undefined ? "" : ` · workers also have NAME.${appDomain}`;
    context.output.footer(
      rows.length === 0
        ? `no host names yet; add one with: runtimectl hosts add shop.example.org @team/shop${automatic}`
        : `${pluralize(hosts.length, "host name")}${requested.length === 0 ? "" : `, ${requested.length} requested by manifests`}${automatic}`,
    );
  },
});
