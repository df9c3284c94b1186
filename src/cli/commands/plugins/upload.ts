import { list, upload } from "../../../shared/contract/plugins.js";
import { formatSize } from "../../../shared/size.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { mainFiles } from "../../../shared/packing/main-files.js";
import { describeArchive, createArchive, archiveFields, sendArchive } from "../../pack/package-archive.js";
import { showPlan } from "../../pack/show-plan.js";
import { pluginState, tellFailure } from "./plugin-state.js";

interface Options {
  readonly dryRun?: boolean;
}

export const command = defineCommand<[source: string], Options>({
  arguments: [{ syntax: "[path]", description: "A folder, or a .tgz, .tar.gz or .zip that is ready (default: .)", default: "." }],
  options: [{ flags: "--dry-run", description: "List every file, its size and the rule that kept or dropped it; upload nothing" }],
  fields: ["name", "version", "installedAt", "status", "error", ...archiveFields],
  examples: [
    ["runtimectl plugins upload ./guard", "pack the folder, upload it, say whether it is loaded"],
    ["runtimectl plugins upload ./guard --dry-run", "what would go, what not, and why"],
    ["runtimectl plugins upload ./plugin-gateway", "a folder with nothing but a manifest.yaml: settings of a built-in plugin"],
    ["runtimectl plugins upload guard-1.2.0.tgz", "an archive as it is, such as npm pack makes"],
  ],
  notes:
    "Replaces the plugin of that name, whatever its version; a plugin's code runs in the daemon, so upload only what you trust.\n" +
    "The module is pluginEntry of the manifest, else plugin.js, plugin.mjs, index.js or index.mjs. What is packed: see runtimectl workers upload --help.\n" +
    "Ends with 1 and a warning when the plugin is installed but could not be loaded; the others go on as they were.",
  async run(context, [source], options) {
    const { output } = context;
    const packageArchive = await createArchive(context, source, { kind: "plugin" });
    const { plan, sizeBytes, sha256 } = packageArchive;
    if (options.dryRun) return showPlan(output, plan, packageArchive);
    if (plan) describeArchive(context, plan, packageArchive);
    if (plan && mainFiles(plan.facts).length === 0)
      output.note("there is no code in it: its manifest is for a built-in plugin of that name");
    const connection = await connect(context, { plugins: { list, upload } });
    const { plugin } = (await sendArchive(context, packageArchive, (file) => connection.client.plugins.upload({ file }))).data;
    const state = await pluginState(connection, plugin.name);
    output.note(`uploaded ${plugin.name}@${plugin.version}, ${formatSize(sizeBytes)}`);
    const document = {
      ...plugin,
      status: state?.status ?? null,
      ...(state?.error === undefined ? {} : { error: state.error }),
      sizeBytes,
      sha256,
    };
    output.result(document, [plugin.name, plugin.version, state?.status ?? "installed"].join(" "));
    return tellFailure(context, `${plugin.name}@${plugin.version} is installed`, state);
  },
});
