import { readdir } from "node:fs/promises";
import path from "node:path";
import { isPackageName } from "../../shared/package-name.js";
import { usageError } from "../command/command-error.js";
import { defineCommand } from "../command/command.js";
import { templateFiles, templateMeanings, templateNames, writeNewFiles, type TemplateName } from "../init/templates.js";
import { canAsk, confirmOnMachine } from "../output/prompts.js";
import { shellWord } from "../output/shell-word.js";

interface Options {
  readonly template?: TemplateName;
  readonly name?: string;
}

export const command = defineCommand<[directory: string], Options>({
  arguments: [{ syntax: "[dir]", description: "Where to write it; made when it is missing (default: .)", default: "." }],
  options: [
    { flags: "--template <template>", description: "What to begin with, see below (default: fetch)", choices: templateNames },
    { flags: "--name <name>", description: "Its name, such as @team/app (default: the folder's)" },
  ],
  fields: ["folder", "name", "template", "files", "next"],
  examples: [
    ["runtimectl init hello", "a worker: a module with fetch"],
    ["runtimectl init site --template static", "pages and files"],
    ["runtimectl init guard --template plugin --name @team/guard", "a plugin, under another name than the folder's"],
  ],
  notes:
    `${templateNames.map((name) => `Template ${name}: ${templateMeanings[name]}.`).join("\n")}\n` +
    "Overwrites nothing: when one of its files is there already, nothing is written. At a terminal it asks before it writes into a folder that holds other files.",
  async run(context, [given], { template = "fetch", name }) {
    const { output, workingDirectory } = context;
    const folder = path.resolve(workingDirectory, given);
    const chosen = name ?? path.basename(folder).toLowerCase();
    if (!isPackageName(chosen))
      throw usageError(
        `${JSON.stringify(chosen)} cannot name a package`,
        "--name hello: lower case, digits, - . _, optionally @scope/ in front",
      );
    const files = templateFiles(template, chosen);
    if (canAsk(context) && (await holdsFiles(folder)))
      await confirmOnMachine(context, { consequence: `${folder} holds other files; write ${Object.keys(files).join(", ")} beside them` });
    await writeNewFiles(folder, files);
    const shown = path.relative(workingDirectory, folder) || ".";
    const word = shellWord(shown);
    const next = `runtimectl deploy ${word}`;
    output.note(
      `${chosen}: ${Object.keys(files).join(", ")}\nnext: ${template === "plugin" ? next : `runtimectl dev ${word}, then ${next}`}`,
    );
    output.result({ folder, name: chosen, template, files: Object.keys(files), next }, output.isAligned ? undefined : shown);
  },
});

async function holdsFiles(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  return names.some((name) => name !== ".git");
}
