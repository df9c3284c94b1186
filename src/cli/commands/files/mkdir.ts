import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { chosenFiles, pluginsOption, type SurfaceOptions } from "./chosen-files.js";

export const command = defineCommand<[remote: string], SurfaceOptions>({
  arguments: [{ syntax: "<remote>", description: "The folder on the server, in a version of a worker or in a plugin" }],
  options: [pluginsOption],
  fields: ["path"],
  examples: [
    ["runtimectl files mkdir workers/@team/app/1.0.0/assets", "create a folder in a version"],
    ["runtimectl files mkdir workers/@team/app/2.0.0", "create a version to fill file by file"],
  ],
  notes: "Missing parent folders are also created.",
  async run(context, [remote], options) {
    const { client } = await connect(context, { files: { mkdir: chosenFiles(options).mkdir } });
    await client.files.mkdir({ body: { path: remote } });
    context.output.note(`created ${remote}`);
    context.output.result({ path: remote });
  },
});
