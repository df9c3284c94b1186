import { list, upload } from "../../../shared/contract/plugins.js";
import { formatSize } from "../../../shared/size.js";
import { defineCommand } from "../../command/command.js";
import { connect } from "../../client/connection.js";
import { mainFiles } from "../../../shared/packing/main-files.js";
import { describeArchive, createArchive, archiveFields, sendArchive } from "../../pack/package-archive.js";
import { showPlan } from "../../pack/show-plan.js";
import { pluginState, reportLoadFailure } from "./plugin-state.js";

interface Options {
  readonly dryRun?: boolean;
}

export const command = defineCommand<[source: string], Options>({
  arguments: [{ syntax: "[path]", description: "A folder or a .tgz, .tar.gz or .zip archive (default: .)", default: "." }],
  options: [{ flags: "--dry-run", description: "List every file with its size and the rule that included or excluded it; upload nothing" }],
  fields: ["name", "version", "installedAt", "status", "error", ...archiveFields],
  examples: [
    ["runtimectl plugins upload ./guard", "pack a folder, upload it and print its state"],
    ["runtimectl plugins upload ./guard --dry-run", "list included and excluded files with the reason"],
    ["runtimectl plugins upload ./plugin-gateway", "configure a built-in plugin with a folder that contains only manifest.yaml"],
    ["runtimectl plugins upload guard-1.2.0.tgz", "upload an existing archive, such as one from npm pack"],
  ],
  notes:
    "Replaces the installed version of the plugin. A plugin's code runs in the daemon: upload only code that you trust.\n" +
    "The module is pluginEntry of the manifest, else plugin.js, plugin.mjs, index.js or index.mjs. Which files are packed: runtimectl pack --help.\n" +
    "Exits with 1 and a warning if the plugin is installed but fails to load. The other plugins stay loaded.",
  async run(context, [source], options) {
    const { output } = context;
    const packageArchive = await createArchive(context, source, { kind: "plugin" });
    const { plan, sizeBytes, sha256 } = packageArchive;
    if (options.dryRun) return showPlan(output, plan, packageArchive);
    if (plan) describeArchive(context, plan, packageArchive);
    if (plan && mainFiles(plan.facts).length === 0)
      output.note("the package contains no code: its manifest configures the built-in plugin with this name");
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
    return reportLoadFailure(context, `${plugin.name}@${plugin.version} is installed`, state);
  },
});
