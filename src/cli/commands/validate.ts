import { automaticLabel } from "../../shared/automatic-host.js";
import { pluralize } from "../output/format.js";
import { defineCommand, type Context } from "../command/command.js";
import { latestVersion } from "../../shared/package-name.js";
import type { PackageInfo, PackageKind } from "../pack/package-info.js";
import { openPackage } from "../pack/open-package.js";
import { describeProblem } from "../validate/problem.js";
import { invalidPackage, validatePackage } from "../validate/validate-package.js";

interface Options {
  readonly kind?: PackageKind;
}

export const command = defineCommand<[source: string], Options>({
  arguments: [{ syntax: "[path]", description: "A folder or a .tgz, .tar.gz or .zip archive (default: .)", default: "." }],
  options: [{ flags: "--kind <kind>", description: "Override the package kind that the manifest implies", choices: ["worker", "plugin"] }],
  fields: ["valid", "kind", "name", "version", "files", "warnings", "automaticLabel", "automaticLabelReason", "requestedHosts"],
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
    const hosts = opened.kind === "worker" ? hostsOf(plan.facts) : undefined;
    if (hosts) noteHosts(context, name, hosts);
    const isAssigned = opened.kind === "worker" && !plan.facts.hasDeclaredVersion && version === latestVersion;
    const valid = `${isAssigned ? name : `${name}@${version}`} is a valid ${opened.kind}: ${pluralize(plan.files.length, "file")}`;
    const text = isAssigned ? `${valid}; deploy assigns the version` : valid;
    output.result({ valid: true, kind: opened.kind, name, version, files: plan.files.length, warnings, ...hosts }, text);
  },
});

interface PossibleHosts {
  /** First label of the automatic host name. Null if the worker cannot have an automatic host name. */
  readonly automaticLabel: string | null;
  /** The reason why the worker cannot have an automatic host name. Null if the worker can have an automatic host name. */
  readonly automaticLabelReason: string | null;
  /** Host names that the manifest requests. The daemon decides which of these host names it adds. */
  readonly requestedHosts: readonly string[];
}

function hostsOf({ name, hosts = [] }: PackageInfo): PossibleHosts {
  const automatic = automaticLabel(name);
  return "label" in automatic
    ? { automaticLabel: automatic.label, automaticLabelReason: null, requestedHosts: hosts }
    : { automaticLabel: null, automaticLabelReason: automatic.reason, requestedHosts: hosts };
}

function noteHosts(
  { output }: Context,
  name: string,
  { automaticLabel: label, automaticLabelReason, requestedHosts }: PossibleHosts,
): void {
  output.note(
    label === null
      ? `no automatic host below RUNTIME_APP_DOMAIN: ${automaticLabelReason}`
      : `automatic host: ${label} below RUNTIME_APP_DOMAIN, if the daemon has it`,
  );
  for (const host of requestedHosts) output.note(`requested host: ${host}; an operator adds it with: runtimectl hosts add ${host} ${name}`);
}
