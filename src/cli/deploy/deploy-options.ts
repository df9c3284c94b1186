import { longestDeployMessage } from "../../shared/deployment.js";
import { isPackageName, isPackageVersion } from "../../shared/package-name.js";
import { usageError } from "../command/command-error.js";
import { parseExternals } from "../pack/external-packages.js";
import type { PackageIdentity, PackageKind } from "../pack/package-info.js";
import { parseHealthCheck, type HealthCheck } from "./health-check.js";
import { formatSize } from "../../shared/size.js";
import type { Context } from "../command/command.js";
import type { OpenedPackage } from "../pack/open-package.js";
import type { PackPlan } from "../pack/pack-plan.js";
import type { Settings } from "../config/settings.js";

const labelWidth = 10;
/** Total size of the files in bytes above which `deploy` prints how to make the package smaller. */
const largePackageBytes = 50 * 1024 * 1024;

/** The options of `deploy` as the user wrote them, before parsing. */
export interface GivenOptions {
  readonly kind?: PackageKind;
  readonly name?: string;
  readonly version?: string;
  readonly message?: string;
  readonly bundle?: boolean;
  readonly external?: readonly string[];
  readonly dryRun?: boolean;
  readonly exitCode?: boolean;
  readonly ifChanged?: boolean;
  readonly replace?: boolean;
  readonly bump?: boolean;
  readonly build?: boolean;
  readonly save?: boolean;
  /** Whether the daemon enables the deployed version. False with `--no-enable`. */
  readonly enable?: boolean;
  /** Text of `--check`, the health check. False with `--no-check`. */
  readonly check?: string | false;
  readonly checkTimeout?: string;
  readonly rollbackOnFail?: boolean;
  readonly keep?: string;
}

/** The options of `deploy` after parsing and validation. */
export interface DeployOptions {
  readonly identity: PackageIdentity;
  readonly message: string | undefined;
  readonly bundle: boolean;
  /** Names of the packages in `--external`. The bundle imports these packages instead of containing their code. */
  readonly externals: readonly string[];
  readonly isDryRun: boolean;
  readonly hasExitCode: boolean;
  readonly onlyIfChanged: boolean;
  readonly mayReplace: boolean;
  /** Whether `--bump` is set. `deploy` then assigns the next version, unless one is declared, and disables the version `latest`. */
  readonly isBump: boolean;
  readonly isOff: boolean;
  /** Whether the daemon loads the code once before it serves the version, and rejects the version if loading fails. */
  readonly isChecked: boolean;
  readonly check: HealthCheck | undefined;
  readonly rollsBack: boolean;
  readonly keep: number | undefined;
}

/** Parses and checks the options of `deploy`. Throws a usage error for invalid values and combinations. */
export function parseDeployOptions(given: GivenOptions): DeployOptions {
  const { name, version, message, keep, dryRun = false, exitCode = false, enable = true, rollbackOnFail = false } = given;
  if (name !== undefined && !isPackageName(name))
    throw usageError(`--name: ${JSON.stringify(name)} is not a valid package name`, "--name @team/app");
  if (version !== undefined && !isPackageVersion(version))
    throw usageError(`--version: ${JSON.stringify(version)} is not a version`, "--version 1.2.0");
  if (message !== undefined && message.length > longestDeployMessage)
    throw usageError(`--message is longer than ${longestDeployMessage} characters`);
  if (keep !== undefined && !/^[1-9]\d{0,5}$/.test(keep))
    throw usageError(`--keep: ${keep} is not a whole number from 1 to 999999`, "--keep 3");
  if (exitCode && !dryRun) throw usageError("--exit-code requires --dry-run", "add --dry-run");
  const check = parseHealthCheck(given.check === false ? undefined : given.check, given.checkTimeout);
  if (check && !enable) throw usageError("--no-enable and --check cannot be used together", "remove one of the flags");
  if (rollbackOnFail && !check) throw usageError("--rollback-on-fail requires --check", "add --check /");
  return {
    identity: { ...(name !== undefined && { name }), ...(version !== undefined && { version }) },
    message,
    bundle: given.bundle ?? false,
    externals: parseExternals(given),
    isDryRun: dryRun,
    hasExitCode: exitCode,
    onlyIfChanged: given.ifChanged ?? false,
    mayReplace: given.replace ?? false,
    isBump: given.bump ?? false,
    isOff: !enable,
    isChecked: given.check !== false,
    check,
    rollsBack: rollbackOnFail,
    keep: keep === undefined ? undefined : Number(keep),
  };
}

/**
 * Prints the kind of project that `deploy` detected in a folder without a manifest, and the manifest that `deploy` generated for the build
 * output.
 */
export function noteProject(context: Context, { project }: OpenedPackage): void {
  if (!project?.output) return;
  const { manifest } = project.output;
  const fields = Object.entries(manifest).map(([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`);
  noteStep(context, "Detected", [project.kind, ...fields].join(", "));
}

/** Prints one completed step of a deployment to stderr. */
export function noteStep({ output }: Context, label: string, text: string): void {
  output.note(text, { text: `  ${label.padEnd(labelWidth)}`, style: "bold" });
}

/** Prints the package, the daemon to which it is deployed, and the number of files. */
export function notePackage(
  context: Context,
  { facts, files, leftOut }: PackPlan,
  { kind, settings }: { readonly kind: PackageKind; readonly settings: Settings },
): void {
  const profile = settings.profile ? `, profile ${settings.profile.value}${settings.isProduction ? " PRODUCTION" : ""}` : "";
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  noteStep(context, "Package", `${facts.name} ${facts.version}, ${servedAs(kind, facts)}, to ${settings.origin.value}${profile}`);
  noteStep(context, "Files", `${files.length} packed, ${leftOut.length} excluded, ${formatSize(sizeBytes)}`);
  if (sizeBytes <= largePackageBytes) return;
  const modulesBytes = files.reduce((sum, file) => sum + (file.path.includes("node_modules/") ? file.sizeBytes : 0), 0);
  const modules = modulesBytes === 0 ? "" : `, ${formatSize(modulesBytes)} of it in node_modules (--bundle packs only the code in use)`;
  context.output.warn(`the package has ${formatSize(sizeBytes)}${modules}; exclude files with .runtimeignore`);
}

/**
 * Returns a text with the package kind and the entry file. In a folder with a page and a module, the entry file shows which of them the
 * daemon serves.
 */
function servedAs(kind: PackageKind, { entrypoint = "" }: PackPlan["facts"]): string {
  if (kind === "plugin") return "plugin";
  return `${entrypoint.endsWith(".html") ? "static site" : "worker"} (${entrypoint})`;
}
