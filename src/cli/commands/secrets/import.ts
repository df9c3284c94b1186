import { parseEnv } from "node:util";
import { usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { runBatch } from "../../command/run-batch.js";
import { assertSecretValue, readTextFile } from "./read-value.js";
import { isSecretName, secretNameForm } from "../../../shared/secret-name.js";
import { openSecretOwner, ownerArgument, stageOption } from "./secret-owner.js";

interface Options {
  readonly stage?: boolean;
}

export const command = defineCommand<[owner: string, file: string], Options>({
  arguments: [ownerArgument, { syntax: "[file]", description: "File with lines NAME=value; - reads standard input", default: ".env" }],
  options: [stageOption],
  fields: ["name", "set"],
  examples: [
    ["runtimectl secrets import @team/shop", "set all variables of .env"],
    ["runtimectl secrets import @team/shop prod.env --stage", "apply them with the next deployment"],
  ],
  notes:
    "Checks all names and values before it sets the first. Lines without = are ignored, and # begins a comment outside of quotes.\n" +
    "Secrets that the file does not name stay as they are.",
  async run(context, [target, file], { stage: isStaged = false }) {
    const entries = Object.entries(parseEnv(await readTextFile(context, file))).map(([name, value = ""]) => ({ name, value }));
    if (entries.length === 0) throw usageError(`${file} contains no line of the form NAME=value`);
    for (const { name, value } of entries) {
      // The error message must not contain the text before the equals sign, because this text can be a part of an unquoted secret with
      // several lines.
      if (!isSecretName(name))
        throw usageError(
          `a line of ${file} has no valid variable name; use ${secretNameForm}`,
          "if the line is part of a longer value, put the whole value in quotes",
        );
      assertSecretValue(name, value);
      context.output.redact(value);
    }
    const owner = await openSecretOwner(context, target, { isStaged });
    await runBatch(context, {
      items: entries.map(({ name, value }) => ({ label: name, fields: { name }, value })),
      noun: "secrets",
      done: isStaged ? "staged" : "set",
      act: ({ label, value }) => owner.set(label, value),
    });
  },
});
