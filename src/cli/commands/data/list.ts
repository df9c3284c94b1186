import { list } from "../../../shared/contract/data.js";
import { formatSize } from "../../../shared/size.js";
import { connect } from "../../client/connection.js";
import { defineCommand } from "../../command/command.js";
import { pluralize } from "../../output/format.js";

const headings = ["WORKER", "USED", "LIMIT", "ENTRIES", "STATE"];

export const command = defineCommand<[]>({
  fields: ["worker", "sizeBytes", "limitBytes", "entries", "full"],
  examples: [
    ["runtimectl data list", "the data folders of all workers that the key can see"],
    ["runtimectl data list --json | jq -r '.data[] | select(.full) | .worker'", "workers that can only read and delete"],
  ],
  notes:
    "A worker has a data folder if its manifest contains `data`. A deleted worker keeps its folder until runtimectl data remove; its limit is then shown as -.",
  async run(context) {
    const { client } = await connect(context, { data: { list } });
    const { data } = await client.data.list();
    const rows = data.map(({ worker, sizeBytes, limitBytes, entries, full }) => [
      worker,
      formatSize(sizeBytes),
      limitBytes === undefined ? "-" : formatSize(limitBytes),
      String(entries),
      full ? "full" : "ok",
    ]);
    context.output.table({ data }, headings, rows);
    context.output.footer(
      data.length === 0 ? "no data folders; a manifest requests one with: data: 100mb" : pluralize(data.length, "data folder"),
    );
  },
});
