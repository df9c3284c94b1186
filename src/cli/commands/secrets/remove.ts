import { defineCommand } from "../../command/command.js";
import { confirmDestruction } from "../../output/prompts.js";
import { openSecretOwner, ownerArgument, parseSecretName } from "./secret-owner.js";

interface Options {
  readonly force?: boolean;
}

export const command = defineCommand<[owner: string, name: string], Options>({
  arguments: [ownerArgument, { syntax: "<name>", description: "The name, from runtimectl secrets list" }],
  options: [{ flags: "--force", description: "Remove it although an active version requires it; that version then cannot start" }],
  fields: ["owner", "name"],
  examples: [
    ["runtimectl secrets remove @team/shop STRIPE_KEY", "after its name is typed"],
    ["runtimectl secrets remove @team/shop STRIPE_KEY --yes", "without a question"],
    ["runtimectl secrets remove @team/shop STRIPE_KEY --force --yes", "also if the active version requires it"],
  ],
  notes: "Removes the staged value as well. The value cannot be restored: the daemon never returns it.",
  async run(context, [target, nameText], { force: isForced = false }) {
    const name = parseSecretName(nameText);
    const owner = await openSecretOwner(context, target);
    await confirmDestruction(context, { consequence: `Remove the secret ${name} of ${owner.name}`, name, settings: owner.settings });
    await owner.remove(name, { isForced });
    context.output.note(`removed ${name} of ${owner.name}`);
    context.output.result({ owner: owner.name, name });
  },
});
