import { remove, removeVersion } from "../../../shared/contract/worker-changes.js";
import { toPathSegments } from "../../../shared/package-name.js";
import { runBatch } from "../../command/run-batch.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { pluralize } from "../../output/format.js";
import { parsePackageReference } from "../../command/package-reference.js";
import { confirmDestruction } from "../../output/prompts.js";

export const command = defineCommand<[references: readonly string[]]>({
  arguments: [{ syntax: "<name[@version]...>", description: "The workers, or single versions of them" }],
  fields: ["name", "version", "deleted", "error"],
  examples: [
    ["runtimectl workers delete @team/app@1.2.0", "delete one version, after you type its name"],
    ["runtimectl workers delete @team/app --yes", "delete the worker with all versions, without confirmation"],
    ["runtimectl workers delete @team/app@1.0.0 @team/app@1.1.0 --yes", "delete two versions"],
    ["runtimectl workers delete @team/app --confirm prod", "the same on the production profile prod"],
  ],
  notes:
    "Cannot be undone. To stop serving a version without deleting it, use runtimectl workers disable.\n" +
    "Secrets of a deleted worker are kept, and the next upload with its name receives them. To remove one, use runtimectl secrets remove.\n" +
    "If some deletions fail, the others still happen, and the exit code is 9.",
  async run(context, [references]) {
    const items = [...new Set(references)].map((reference) => {
      const { name, version } = parsePackageReference(reference);
      return { name, version, label: reference, fields: { name, ...(version === undefined ? {} : { version }) } };
    });
    const { client, settings } = await connect(context, { workers: { remove, removeVersion } });
    const whats = items.map(({ name, version, label }) => (version === undefined ? `${name} with all its versions` : label));
    const [whole, ...others] = items.filter(({ version }) => version === undefined);
    const owner = others.length === 0 ? whole?.name : "WORKER";
    const kept = whole ? `, but no secrets (to remove one: runtimectl secrets remove ${owner} NAME)` : "";
    await confirmDestruction(context, {
      consequence: `Delete ${whats.join(", ")}${kept}`,
      name: items.length === 1 ? (items[0]?.label ?? "") : pluralize(items.length, "item"),
      settings,
    });
    await runBatch(context, {
      items,
      noun: "workers",
      done: "deleted",
      act: ({ name, version }) => {
        const params = toPathSegments(name);
        return version === undefined ? client.workers.remove({ params }) : client.workers.removeVersion({ params: { ...params, version } });
      },
    });
  },
});
