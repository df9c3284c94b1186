import { show } from "../../shared/contract/settings.js";
import { formatSize } from "../../shared/size.js";
import { connect } from "../client/connection.js";
import { defineCommand } from "../command/command.js";
import { alignedTable, factLines } from "../output/table.js";

export const command = defineCommand<[]>({
  fields: ["version", "node", "startedAt", "variables", "directories", "isolation"],
  examples: [
    ["runtimectl settings", "show variables, directories and isolation of the daemon"],
    ["runtimectl settings --json | jq -r '.variables[] | select(.source != \"default\") | .name'", "print the variables that are set"],
  ],
  notes: "Requires the permission settings:read (role admin) and a key for all namespaces. Secrets are never shown.",
  async run(context) {
    const { client } = await connect(context, { settings: { show } });
    const settings = await client.settings.show();
    const { layout } = context.output;
    const text = [
      factLines(
        [
          ["version", settings.version],
          ["node", settings.node],
          ["started", new Date(settings.startedAt * 1000).toISOString()],
        ],
        layout,
      ),
      alignedTable(
        ["VARIABLE", "VALUE", "SOURCE"],
        settings.variables.map(({ name, value, source, isSecret }) => [
          name,
          isSecret ? (source === "default" ? "-" : "(secret)") : (value ?? "-"),
          source,
        ]),
        layout,
      ),
      alignedTable(
        ["DIRECTORY", "FREE", "TOTAL", "WRITABLE", "PATH"],
        settings.directories.map(({ kind, freeBytes, totalBytes, isWritable, path }) => [
          kind,
          formatSize(freeBytes),
          formatSize(totalBytes),
          isWritable ? "yes" : "no",
          path,
        ]),
        layout,
      ),
      alignedTable(
        ["ISOLATION", "ACTIVE", "MESSAGE"],
        settings.isolation.map(({ name, isActive, message }) => [name, isActive ? "yes" : "no", message]),
        layout,
      ),
    ];
    context.output.laidOut(settings, text.join("\n\n"));
  },
});
