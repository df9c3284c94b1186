import { pluralize } from "../output/format.js";
import { defineCommand } from "../command/command.js";
import type { PackageKind } from "../pack/package-info.js";
import { openPackage } from "../pack/open-package.js";
import { describeProblem } from "../validate/problem.js";
import { invalidPackage, validatePackage } from "../validate/validate-package.js";

interface Options {
  readonly kind?: PackageKind;
}

export const command = defineCommand<[source: string], Options>({
  arguments: [{ syntax: "[path]", description: "A folder, or a .tgz, .tar.gz or .zip (default: .)", default: "." }],
  options: [{ flags: "--kind <kind>", description: "What it is, when its manifest does not tell", choices: ["worker", "plugin"] }],
  fields: ["valid", "kind", "name", "version", "files", "warnings"],
  examples: [
    ["runtimectl validate", "is this folder fit to be deployed?"],
    ["runtimectl validate ./dir --json | jq .warnings", "what looks like a mistake, for scripts"],
    ["runtimectl validate app-1.2.0.tgz", "the same for an archive"],
  ],
  notes:
    "Needs no daemon. Errors are what a daemon would refuse, all at once, as file:line:column; warnings do not fail.\n" +
    "A plugin is told from a worker by a key that only plugins have (pluginEntry, base, dependencies, menus, config), or by its plugin.js.",
  async run(context, [given], { kind }) {
    const { output } = context;
    const opened = await openPackage(context, given, kind);
    const { problems, plan } = await validatePackage(opened);
    const warnings = problems.filter(({ severity }) => severity === "warning");
    if (!output.isJson) for (const warning of warnings) output.warn(describeProblem(warning));
    if (!plan || warnings.length < problems.length) throw invalidPackage(problems, "a daemon would refuse it");
    const { name, version } = plan.facts;
    const text = `${name}@${version} is a valid ${opened.kind}: ${pluralize(plan.files.length, "file")}`;
    output.result({ valid: true, kind: opened.kind, name, version, files: plan.files.length, warnings }, text);
  },
});
