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
  arguments: [{ syntax: "[dir]", description: "Target folder; created if it does not exist (default: .)", default: "." }],
  options: [
    { flags: "--template <template>", description: "The template; see the notes (default: fetch)", choices: templateNames },
    { flags: "--name <name>", description: "Package name, such as @team/app (default: the folder name)" },
  ],
  fields: ["folder", "name", "template", "files", "next"],
  examples: [
    ["runtimectl init hello", "create a worker: a module with fetch"],
    ["runtimectl init site --template static", "create a static site"],
    ["runtimectl init guard --template plugin --name @team/guard", "create a plugin with another name than its folder"],
  ],
  notes:
    `${templateNames.map((name) => `Template ${name}: ${templateMeanings[name]}.`).join("\n")}\n` +
    "Overwrites nothing: if one of the files exists, nothing is written. On a terminal, init asks before it writes into a folder with other files.",
  async run(context, [given], { template = "fetch", name }) {
    const { output, workingDirectory } = context;
    const folder = path.resolve(workingDirectory, given);
    const chosen = name ?? path.basename(folder).toLowerCase();
    if (!isPackageName(chosen))
      throw usageError(
        `${JSON.stringify(chosen)} is not a valid package name`,
        "use lower-case letters, digits, - . _, optionally with a scope: --name @scope/hello",
      );
    const files = templateFiles(template, chosen);
    if (canAsk(context) && (await holdsFiles(folder)))
      await confirmOnMachine(context, {
        consequence: `${folder} contains other files. Write ${Object.keys(files).join(", ")} beside them`,
      });
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
