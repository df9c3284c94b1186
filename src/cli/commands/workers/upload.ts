import { upload } from "../../../shared/contract/worker-changes.js";
import { list } from "../../../shared/contract/workers.js";
import { latestVersion } from "../../../shared/package-name.js";
import { formatSize } from "../../../shared/size.js";
import { defineCommand, type Context } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import type { PackPlan } from "../../pack/pack-plan.js";
import { describeArchive, createArchive, archiveFields, sendArchive } from "../../pack/package-archive.js";
import { parseExternals } from "../../pack/external-packages.js";
import { showPlan } from "../../pack/show-plan.js";
import { activeUrl } from "./active-url.js";

interface Options {
  readonly dryRun?: boolean;
  readonly bundle?: boolean;
  readonly external?: readonly string[];
}

export const command = defineCommand<[source: string], Options>({
  arguments: [{ syntax: "[path]", description: "A folder or a .tgz, .tar.gz or .zip archive (default: .)", default: "." }],
  options: [
    { flags: "--bundle", description: "Bundle the code and its imports into one file, without node_modules" },
    {
      flags: "--external <name>",
      description: "With --bundle: pack this package and its dependencies in node_modules; repeatable",
      repeatable: true,
    },
    { flags: "--dry-run", description: "List every file with its size and the rule that included or excluded it; upload nothing" },
  ],
  fields: ["name", "version", "installedAt", "url", ...archiveFields],
  examples: [
    ["runtimectl workers upload ./dir", "pack a folder, upload it and print its URL"],
    ["runtimectl workers upload ./dir --dry-run", "list included and excluded files with the reason"],
    ["runtimectl workers upload ./dir --bundle", "bundle JavaScript or TypeScript with dependencies"],
    ["runtimectl workers upload app-1.2.0.tgz", "upload an existing archive, such as one from npm pack"],
  ],
  notes:
    "The plain upload below runtimectl deploy: without detection, check and assigned version. It replaces an installed version.\n" +
    "Which files are packed: runtimectl pack --help.\n" +
    "--bundle adds a source map for stack traces, which is not served to clients. esbuild applies tsconfig.json.\n" +
    "--bundle packs files of packages only if bundled modules read them. --external packs whole packages, such as native addons.\n" +
    "A file with an API key stops the upload. A symbolic link is packed as a copy of its target; targets outside of the folder are excluded.",
  async run(context, [source], options) {
    const packageArchive = await createArchive(context, source, {
      kind: "worker",
      bundle: options.bundle ?? false,
      externals: parseExternals(options),
    });
    if (options.dryRun) return showPlan(context.output, packageArchive.plan, packageArchive);
    if (packageArchive.plan) {
      describeArchive(context, packageArchive.plan, packageArchive);
      advise(context, packageArchive.plan);
    }
    const connection = await connect(context, { workers: { list, upload } });
    const { worker } = (await sendArchive(context, packageArchive, (file) => connection.client.workers.upload({ file }))).data;
    const url = await activeUrl(context, connection, worker);
    context.output.note(`uploaded ${worker.name}@${worker.version}, ${formatSize(packageArchive.sizeBytes)}; URL:`);
    context.output.result({ ...worker, url, sizeBytes: packageArchive.sizeBytes, sha256: packageArchive.sha256 }, url);
  },
});

/** Prints a warning before the upload if the package has no entrypoint or sets no version. */
function advise({ output }: Context, { facts }: PackPlan): void {
  if (facts.entrypoint === undefined) output.warn("the folder has nothing to serve: no index.html, index.js or entrypoint");
  if (facts.version === latestVersion)
    output.note("the package declares no version: it is installed as latest and replaces the previous latest");
}
