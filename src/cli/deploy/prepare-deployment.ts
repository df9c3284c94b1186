import path from "node:path";
import { longestDeployer, type Deployment } from "../../shared/deployment.js";
import { CommandError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { archiveName, ContentDigest } from "../pack/write-archive.js";
import { readManifestOf, withManifest, writtenFile } from "../pack/bundle-plan.js";
import type { OpenedPackage } from "../pack/open-package.js";
import { withFiles, type PackPlan, type PackedFile } from "../pack/pack-plan.js";
import { packWithProgress, type PackageArchive } from "../pack/package-archive.js";
import { describeProblem } from "../validate/problem.js";
import { invalidPackage, validatePackage } from "../validate/validate-package.js";
import type { DeployOptions } from "./deploy-options.js";
import { readGitFacts } from "./ci.js";
import { latestVersion } from "../../shared/package-name.js";
import type { DeployTarget } from "./deploy-target.js";
import { isMap, isScalar, type Document } from "yaml";
import { createTarStream } from "../pack/tar-writer.js";

/** A valid package, ready to be packed. */
export interface Deployable {
  readonly plan: PackPlan;
  readonly digest: string;
  /** Whether the daemon installs the version without enabling it, because of `--no-enable` or the manifest. */
  readonly isOff: boolean;
  /** Whether `deploy` chose the version number. In this case, the content digest must not depend on the version number. */
  readonly isAssigned: boolean;
}

/** Validates a package by the rules of the daemon and prints the warnings. Throws if the package has errors. */
export async function planDeployment(context: Context, opened: OpenedPackage, options: DeployOptions): Promise<PackPlan> {
  const { problems, plan } = await validatePackage(opened, options);
  for (const problem of problems) if (problem.severity === "warning") context.output.warn(describeProblem(problem));
  if (!plan || problems.some(({ severity }) => severity === "error")) throw invalidPackage(problems, "nothing was uploaded");
  return plan;
}

/** Sets the name and version of the deployment in the manifest of a plan. */
export async function prepareDeployable(
  { workspace }: OpenedPackage,
  plan: PackPlan,
  { target, options }: { target: DeployTarget; options: DeployOptions },
): Promise<Deployable> {
  const { version, versionOrigin } = target;
  const isAssigned = versionOrigin === "assigned";
  const identity = { ...options.identity, ...(isAssigned && { version }) };
  const adapted = await withManifest({ ...plan, facts: { ...plan.facts, version } }, path.join(workspace, "made"), identity);
  const isOff = options.isOff || readManifestOf(adapted).document.get("enabled") === false;
  return { plan: adapted, digest: digestOf(adapted, isAssigned), isOff, isAssigned };
}

/** Packs a package, with the deployment record in its manifest. Throws FILE_CHANGED if a file changes during packing. */
export async function packDeployable(
  context: Context,
  opened: OpenedPackage,
  { plan, digest, isOff, isAssigned, message }: Deployable & { readonly message: string | undefined },
): Promise<PackageArchive & { readonly plan: PackPlan; readonly deployment: Deployment }> {
  const deployment = await describeDeployment(context, opened, { digest, message });
  const noted = await withDeployment(plan, path.join(opened.workspace, "made"), { deployment, isOff, isAssigned });
  const file = path.join(opened.workspace, `package-${plan.facts.version}.tgz`);
  const archive = await packWithProgress(context, noted.files, file);
  if (archive.digest !== digest)
    throw new CommandError("FILE_CHANGED", "the folder changed during packing; nothing was uploaded", {
      exitCode: exitCodes.failed,
      hint: "try again",
    });
  return { ...archive, file, filename: archiveName(plan.facts), plan: noted, deployment };
}

/** Returns the deployment record. If the package is an archive, the record contains no git data. */
async function describeDeployment(
  { variables }: Context,
  { folder, isArchive }: OpenedPackage,
  { digest, message }: { digest: string; message: string | undefined },
): Promise<Deployment> {
  const { by, ...checkout } = isArchive ? {} : await readGitFacts(folder, variables);
  const at = Math.floor(Date.now() / 1000);
  return {
    digest,
    at,
    ...checkout,
    ...(message !== undefined && { message }),
    ...(by !== undefined && { by: by.slice(0, longestDeployer) }),
  };
}

/**
 * What a deployment does. `none`: nothing, because the same content is installed and enabled. `enable`: the same content is installed and
 * only has to be enabled.
 */
export type DeployAction = "install" | "replace" | "enable" | "none";

/**
 * Returns the action of a deployment. Throws if the deployment would replace a version without `--replace`, or could not be reverted
 * although `--rollback-on-fail` is set.
 */
export function chooseAction(target: DeployTarget, { plan, digest, isOff }: Deployable, options: DeployOptions): DeployAction {
  const { existing, loss, versionOrigin } = target;
  const isBump = options.isBump && target.before === latestVersion;
  if (versionOrigin !== "declared" && target.activeDigest === digest && !options.mayReplace && !isBump) return "none";
  const isSame = existing !== undefined && existing.digest === digest;
  if (isSame && (options.onlyIfChanged || options.isDryRun)) return existing.isEnabled || isOff ? "none" : "enable";
  if (existing && versionOrigin === "declared" && !options.mayReplace)
    throw versionExists(target, plan.facts, { isSame, isBump: options.isBump });
  if (options.rollsBack && loss !== undefined)
    throw new CommandError("NO_WAY_BACK", `--rollback-on-fail is not possible: ${loss}`, {
      exitCode: exitCodes.conflict,
      hint: existing ? "deploy another version, or remove --rollback-on-fail" : "remove --rollback-on-fail",
    });
  return existing ? "replace" : "install";
}

function versionExists(
  { newVersionHint }: DeployTarget,
  { name, version }: { name: string; version: string },
  { isSame, isBump }: { isSame: boolean; isBump: boolean },
): CommandError {
  const remedy = `${newVersionHint}, or overwrite it with --replace`;
  const reason = isBump ? ", and --bump does not change a declared version" : "";
  return new CommandError("VERSION_EXISTS", `${name}@${version} is already installed${reason}; nothing was uploaded`, {
    exitCode: exitCodes.conflict,
    hint: isSame ? `the content is the same: use --if-changed to accept this; otherwise ${remedy}` : remedy,
  });
}

/** Computes the content digest of a package from all of its files. The digest does not depend on the deployment record in the manifest. */
function digestOf(plan: PackPlan, isAssigned: boolean): string {
  const { file, document } = readManifestOf(plan);
  const digestedAs = digestedText(document, isAssigned);
  const digest = new ContentDigest();
  const files = plan.files.map((each): PackedFile => (each.path === file ? { ...each, digestedAs } : each));
  for (const _ of createTarStream(files, digest)) continue;
  return digest.hex();
}

/** Returns the plan with the deployment record in the manifest. If `isOff` is true, the manifest also contains `enabled: false`. */
async function withDeployment(
  plan: PackPlan,
  directory: string,
  { deployment, isOff, isAssigned }: { deployment: Deployment; isOff: boolean; isAssigned: boolean },
): Promise<PackPlan> {
  const { file, document } = readManifestOf(plan);
  const digestedAs = digestedText(document, isAssigned);
  if (isOff) document.set("enabled", false);
  document.set("deploy", blockOf(document, deployment));
  const content = document.toString({ lineWidth: 0 });
  const manifest = await writtenFile(directory, { path: file, content, rule: "the manifest, with a record of this deployment" });
  return withFiles(plan, [{ ...manifest, digestedAs }]);
}

/**
 * Returns the manifest text for the content digest: without the deployment record, without an assigned version, and as the YAML writer
 * formats it. Empty if no field remains.
 */
function digestedText(document: Document, isAssigned: boolean): string {
  const copy = document.clone();
  copy.delete("deploy");
  if (isAssigned) copy.delete("version");
  const isEmpty = copy.contents === null || (isMap(copy.contents) && copy.contents.items.length === 0);
  return isEmpty ? "" : copy.toString({ lineWidth: 0 });
}

/** Returns the deployment record as a YAML node. Quotes all strings, because YAML would read some commit ids as numbers. */
function blockOf(document: Document, deployment: Deployment): unknown {
  const block = document.createNode(deployment);
  if (isMap(block))
    for (const { value } of block.items) if (isScalar(value) && typeof value.value === "string") value.type = "QUOTE_DOUBLE";
  return block;
}
