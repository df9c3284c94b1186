import { upload } from "../../../shared/contract/worker-changes.js";
import { list } from "../../../shared/contract/workers.js";
import { latestVersion } from "../../../shared/package-name.js";
import { formatSize } from "../../../shared/size.js";
import { defineCommand, type Context } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import type { PackPlan } from "../../pack/pack-plan.js";
import { describeArchive, createArchive, archiveFields, sendArchive } from "../../pack/package-archive.js";
import { showPlan } from "../../pack/show-plan.js";
import { activeUrl } from "./active-url.js";

interface Options {
  readonly dryRun?: boolean;
  readonly bundle?: boolean;
}

export const command = defineCommand<[source: string], Options>({
  arguments: [{ syntax: "[path]", description: "A folder, or a .tgz, .tar.gz or .zip that is ready (default: .)", default: "." }],
  options: [
    { flags: "--bundle", description: "Make one file of the code and what it imports, and leave node_modules out" },
    { flags: "--dry-run", description: "List every file, its size and the rule that kept or dropped it; upload nothing" },
  ],
  fields: ["name", "version", "installedAt", "url", ...archiveFields],
  examples: [
    ["runtimectl workers upload ./dir", "pack the folder, upload it, print the URL that answers"],
    ["runtimectl workers upload ./dir --dry-run", "what would go, what not, and why"],
    ["runtimectl workers upload ./dir --bundle", "JavaScript or TypeScript with dependencies, as one file"],
    ["runtimectl workers upload app-1.2.0.tgz", "an archive as it is, such as npm pack makes"],
  ],
  notes:
    "Same name and version replaces what is there.\n" +
    "What is packed: by .runtimeignore if there is one, else by files of package.json, else by .gitignore except in the entrypoint's folder.\n" +
    "node_modules is packed without what only devDependencies need, whatever files and .gitignore say; .runtimeignore alone can leave it out.\n" +
    "Always in: manifest, package.json, entrypoint. Always out: .git, .env*, .dev.vars*, *.pem, id_*, .npmrc, .runtimectl.yaml, editor litter.\n" +
    "--bundle keeps a source map for stack traces, which no client can fetch; tsconfig.json counts as esbuild reads it.\n" +
    "A file that holds an API key stops the upload. Links are packed as what they lead to, never from outside the folder.",
  async run(context, [source], options) {
    const packageArchive = await createArchive(context, source, { kind: "worker", bundle: options.bundle ?? false });
    if (options.dryRun) return showPlan(context.output, packageArchive.plan, packageArchive);
    if (packageArchive.plan) {
      describeArchive(context, packageArchive.plan, packageArchive);
      advise(context, packageArchive.plan);
    }
    const connection = await connect(context, { workers: { list, upload } });
    const { worker } = (await sendArchive(context, packageArchive, (file) => connection.client.workers.upload({ file }))).data;
    const url = await activeUrl(context, connection, worker);
    context.output.note(`uploaded ${worker.name}@${worker.version}, ${formatSize(packageArchive.sizeBytes)}; it answers at`);
    context.output.result({ ...worker, url, sizeBytes: packageArchive.sizeBytes, sha256: packageArchive.sha256 }, url);
  },
});

/** What a person would want to know before it is served. */
function advise({ output }: Context, { facts }: PackPlan): void {
  if (facts.entrypoint === undefined) output.warn("nothing in the folder can be served: there is no index.html, index.js or entrypoint");
  if (facts.version === latestVersion) output.note("no version is declared: it is installed as latest, and replaces the latest before");
}
