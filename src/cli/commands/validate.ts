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
  arguments: [{ syntax: "[path]", description: "A folder or a .tgz, .tar.gz or .zip archive (default: .)", default: "." }],
  options: [{ flags: "--kind <kind>", description: "Override the package kind that the manifest implies", choices: ["worker", "plugin"] }],
  fields: ["valid", "kind", "name", "version", "files", "warnings"],
  examples: [
    ["runtimectl validate", "check whether this folder can be deployed"],
    ["runtimectl validate ./dir --json | jq .warnings", "print the warnings as JSON"],
    ["runtimectl validate app-1.2.0.tgz", "check an archive"],
  ],
  notes:
    "Requires no daemon. Lists all errors for which a daemon would reject the package, as file:line:column. Warnings do not fail the command.\n" +
    "The package is a plugin if its manifest has a plugin-only key (pluginEntry, base, dependencies, menus, config), or if it contains plugin.js.",
  async run(context, [given], { kind }) {
    const { output } = context;
    const opened = await openPackage(context, given, kind);
    const { problems, plan } = await validatePackage(opened);
    const warnings = problems.filter(({ severity }) => severity === "warning");
    if (!output.isJson) for (const warning of warnings) output.warn(describeProblem(warning));
    if (!plan || warnings.length < problems.length) throw invalidPackage(problems, "a daemon would reject this package");
    const { name, version } = plan.facts;
    const text = `${name}@${version} is a valid ${opened.kind}: ${pluralize(plan.files.length, "file")}`;
    output.result({ valid: true, kind: opened.kind, name, version, files: plan.files.length, warnings }, text);
  },
});
