import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { chosenFiles, pluginsOption, type SurfaceOptions } from "./chosen-files.js";
import { reportChanged } from "./report-changed.js";

export const command = defineCommand<[remote: string, destination: string], SurfaceOptions>({
  arguments: [
    { syntax: "<remote>", description: "A file or folder on the server" },
    { syntax: "<destination>", description: "An existing folder, or the new path" },
  ],
  options: [pluginsOption],
  fields: ["path", "destination"],
  examples: [
    ["runtimectl files mv workers/@team/app/1.0.0/a.html workers/@team/app/1.0.0/b.html", "rename a file"],
    ["runtimectl files mv workers/@team/app/1.0.0/a.html workers/@team/app/1.0.0/old", "move a file into an existing folder"],
  ],
  notes: "Nothing is overwritten.",
  async run(context, [remote, destination], options) {
    const { client } = await connect(context, { files: { move: chosenFiles(options).move } });
    await client.files.move({ body: { path: remote, destPath: destination } });
    context.output.note(`moved ${remote}`);
    await reportChanged(context, [remote, destination], options);
    context.output.result({ path: remote, destination });
  },
});
