import { usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { shellWord } from "../../output/shell-word.js";
import { readSecretValue } from "./read-value.js";
import { openSecretOwner, ownerArgument, parseSecretName, stageOption } from "./secret-owner.js";

interface Options {
  readonly fromFile?: string;
  readonly stage?: boolean;
}

export const command = defineCommand<[owner: string, name: string], Options>({
  arguments: [ownerArgument, { syntax: "<name>", description: "The name of the variable, such as STRIPE_KEY" }],
  options: [{ flags: "--from-file <file>", description: "Read the value from a file; - reads standard input" }, stageOption],
  fields: ["owner", "name", "source", "staged", "setAt", "setBy"],
  examples: [
    ["runtimectl secrets set @team/shop STRIPE_KEY", "prompt for the value with hidden input"],
    ["runtimectl secrets set shop TLS_KEY --from-file tls.pem", "read a value with several lines from a file"],
    ["pass show stripe | runtimectl secrets set shop STRIPE_KEY", "read the value from standard input"],
    ["runtimectl secrets set shop STRIPE_KEY --stage", "apply the value with the next deployment"],
    ["runtimectl secrets set @team DATABASE_URL", "set it for all workers of the namespace"],
  ],
  notes:
    "The worker reads the value as env.STRIPE_KEY and process.env.STRIPE_KEY. New isolates start with it; no request is lost.\n" +
    "A secret of the worker overrides one of its namespace, which overrides env in the manifest.\n" +
    "The daemon never returns the value. A line break at the end of a file or of standard input is removed.",
  refuseExcess: ([target = "", nameText = ""]) =>
    usageError(
      "the command line contains the value of a secret, which is now in your shell history and was visible to other users of this machine",
      `revoke that value where it was issued, and send a new one by standard input: printf %s "$VALUE" | runtimectl secrets set ${shellWord(target)} ${parseSecretName(nameText)}`,
    ),
  async run(context, [target, nameText], { fromFile, stage: isStaged = false }) {
    const name = parseSecretName(nameText);
    const owner = await openSecretOwner(context, target, { isStaged });
    const value = await readSecretValue(context, name, fromFile);
    context.output.redact(value);
    const secret = await owner.set(name, value);
    context.output.note(
      `${secret.staged ? "staged" : "set"} ${name} of ${owner.name}${secret.staged ? "; deploy the worker to apply it" : ""}`,
    );
    if (await owner.isMissing())
      context.output.note(`no worker named ${owner.name} is installed yet; runtimectl workers list has the names`);
    context.output.result({ owner: owner.name, ...secret });
  },
});
