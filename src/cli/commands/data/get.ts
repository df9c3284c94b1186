import { existsSync } from "node:fs";
import path from "node:path";
import { download } from "../../../shared/contract/data.js";
import { formatSize } from "../../../shared/size.js";
import { connect } from "../../client/connection.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { saveDownload } from "../../output/save-download.js";
import { nameArgument, parseWorkerName } from "./worker-name.js";

export const command = defineCommand<[name: string, file: string | undefined]>({
  arguments: [nameArgument, { syntax: "[file]", description: "Local file to write, or - for standard output (default: NAME-data.zip)" }],
  fields: ["worker", "file", "sizeBytes"],
  examples: [
    ["runtimectl data get @team/shop", "download the data folder to shop-data.zip"],
    ["runtimectl data get @team/shop - | bsdtar -tf -", "list its files"],
  ],
  notes:
    "The daemon first copies the folder while no isolate of the worker runs, so that the files of a database match each other. Requests wait meanwhile. An existing file is not overwritten.",
  async run(context, [worker, file]) {
    const params = parseWorkerName(worker);
    const target = path.resolve(context.workingDirectory, file ?? `${params.name}-data.zip`);
    if (file !== "-" && existsSync(target)) throw usageError(`${target} already exists`, "use another name, or - for standard output");
    const { client } = await connect(context, { data: { download } });
    const pieces = await client.data.download({ params }, context.signal);
    if (file === "-") {
      for await (const piece of pieces) context.output.raw(piece);
      return;
    }
    const sizeBytes = await saveDownload(pieces, target, context);
    context.output.note(`${formatSize(sizeBytes)} written`);
    context.output.result({ worker, file: target, sizeBytes }, target);
  },
});
