import { defineCommand } from "../../command/command.js";
import { ago, pluralize, timeFields } from "../../output/format.js";
import { openSecretOwner, ownerArgument } from "./secret-owner.js";

const headings = ["NAME", "SOURCE", "STATE", "SET", "BY"];

export const command = defineCommand<[owner: string]>({
  arguments: [ownerArgument],
  fields: ["secrets", "missing"],
  examples: [
    ["runtimectl secrets list @team/shop", "names, authors and times; values are never shown"],
    ["runtimectl secrets list @team", "the secrets of a namespace"],
    ["runtimectl secrets list @team/shop --json | jq -r '.missing[]'", "required secrets that are not set"],
  ],
  async run(context, [target]) {
    const owner = await openSecretOwner(context, target);
    const { secrets, missing } = await owner.list();
    const rows = [
      ...secrets.map(({ name, source, staged, setAt, setBy }) => [name, source, staged ? "staged" : "set", ago(setAt, Date.now()), setBy]),
      ...missing.map((name) => [name, "manifest", "missing", "-", "-"]),
    ];
    const document = { secrets: secrets.map(({ setAt, ...secret }) => ({ ...secret, ...timeFields("setAt", setAt) })), missing };
    context.output.table(document, headings, rows);
    const count =
      secrets.length === 0
        ? `no secrets yet; set one with: runtimectl secrets set ${owner.name} NAME`
        : pluralize(secrets.length, "secret");
    context.output.footer(missing.length === 0 ? count : `${count}, ${missing.length} missing`);
  },
});
