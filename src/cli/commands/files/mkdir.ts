import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { chosenFiles, pluginsOption, type SurfaceOptions } from "./chosen-files.js";

export const command = defineCommand<[remote: string], SurfaceOptions>({
  arguments: [{ syntax: "<remote>", description: "The folder on the server, in a version of a worker or in a plugin" }],
  options: [pluginsOption],
  fields: ["path"],
  examples: [
    ["runtimectl files mkdir workers/@team/app/1.0.0/assets", "a folder in a version"],
    ["runtimectl files mkdir workers/@team/app/2.0.0", "a version that is put together file by file"],
  ],
  notes: "Folders above it that are missing are made, too.",
  async run(context, [remote], options) {
    const { client } = await connect(context, { files: { mkdir: chosenFiles(options).mkdir } });
    await client.files.mkdir({ body: { path: remote } });
    context.output.note(`made ${remote}`);
    context.output.result({ path: remote });
  },
});
