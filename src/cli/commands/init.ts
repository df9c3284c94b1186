import path from "node:path";
import { isPackageName } from "../../shared/package-name.js";
import { usageError } from "../command-error.js";
import { defineCommand } from "../command.js";
import { templateFiles, templateNames, type TemplateName } from "../init/templates.js";
import { writeNewFiles } from "../init/write-new-files.js";

interface Options {
  readonly template?: TemplateName;
  readonly name?: string;
}

export const command = defineCommand<[directory: string], Options>({
  arguments: [{ syntax: "[dir]", description: "Where to write it; made when it is missing (default: .)", default: "." }],
  options: [
    { flags: "--template <template>", description: "What to begin with (default: fetch)", choices: templateNames },
    { flags: "--name <name>", description: "Its name, such as @team/app (default: the folder's)" },
  ],
  fields: ["folder", "name", "template", "files", "next"],
  examples: [
    ["runtimectl init hello", "a worker: a module with fetch"],
    ["runtimectl init site --template static", "pages and files"],
    ["runtimectl init guard --template plugin --name @team/guard", "a plugin, under another name than the folder's"],
  ],
  notes: "Overwrites nothing: when one of its files is there already, nothing is written.",
  async run({ output, workingDirectory }, [given], { template = "fetch", name }) {
    const folder = path.resolve(workingDirectory, given);
    const chosen = name ?? path.basename(folder).toLowerCase();
    if (!isPackageName(chosen))
      throw usageError(
        `${JSON.stringify(chosen)} cannot name a package`,
        "--name hello: lower case, digits, - . _, optionally @scope/ in front",
      );
    const files = templateFiles(template, chosen);
    await writeNewFiles(folder, files);
    const shown = path.relative(workingDirectory, folder) || ".";
    const next = `runtimectl deploy ${shown}`;
    output.note(
      `${chosen}: ${Object.keys(files).join(", ")}\nnext: ${template === "plugin" ? next : `runtimectl dev ${shown}, then ${next}`}`,
    );
    output.result({ folder, name: chosen, template, files: Object.keys(files), next }, shown);
  },
});
