import { remove, removeVersion } from "../../../shared/contract/worker-changes.js";
import { toPathSegments } from "../../../shared/package-name.js";
import { defineCommand } from "../../command.js";
import { connect } from "../../connection.js";
import { parsePackageReference } from "../../package-reference.js";
import { confirmDestruction } from "../../prompts.js";

export const command = defineCommand<[reference: string]>({
  arguments: [{ syntax: "<name[@version]>", description: "The worker, or one version of it" }],
  examples: [
    ["runtimectl workers delete @team/app@1.2.0", "delete one version, after its name is typed"],
    ["runtimectl workers delete @team/app --yes", "delete the worker with all versions, unasked"],
    ["runtimectl workers delete @team/app --confirm prod", "the same on the production profile prod"],
  ],
  notes: "Cannot be undone. To stop serving a version and keep it, use runtimectl workers disable.",
  async run(context, [reference]) {
    const { name, version } = parsePackageReference(reference);
    const { client, settings } = await connect(context, { workers: { remove, removeVersion } });
    const consequence = version === undefined ? `Delete ${name} with all its versions` : `Delete ${name}@${version}`;
    await confirmDestruction(context, { consequence, name: reference, settings });
    const params = toPathSegments(name);
    if (version === undefined) await client.workers.remove({ params });
    else await client.workers.removeVersion({ params: { ...params, version } });
    context.output.note(`deleted ${reference}`);
    context.output.result({ name, ...(version === undefined ? {} : { version }), deleted: true });
  },
});
