import path from "node:path";
import type { Deployment } from "../../shared/deployment.js";
import { longestDeployer } from "../../shared/deployment.js";
import { CommandError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { archiveName } from "../pack/archive-name.js";
import { readManifestOf, withManifest } from "../pack/edited-manifest.js";
import type { OpenedPackage } from "../pack/open-package.js";
import type { PackPlan } from "../pack/pack-plan.js";
import { packWithProgress, type PackageArchive } from "../pack/package-archive.js";
import { describeProblem } from "../validate/problem.js";
import { invalidPackage, validatePackage } from "../validate/validate-package.js";
import type { DeployOptions } from "./deploy-options.js";
import { readGitFacts } from "./git-facts.js";
import { digestOf, withDeployment } from "./with-deployment.js";

/** What would be sent, before it is packed. */
export interface Deployable {
  readonly plan: PackPlan;
  readonly digest: string;
  /** Whether the daemon would serve it: not when its manifest says so itself. */
  readonly isOff: boolean;
}

/** Judges the package as the daemon will, and gives it the name and version asked for. Nothing is sent when it is not valid. */
export async function prepareDeployable(context: Context, opened: OpenedPackage, options: DeployOptions): Promise<Deployable> {
  const { problems, plan } = await validatePackage(opened, options);
  for (const problem of problems) if (problem.severity === "warning") context.output.warn(describeProblem(problem));
  if (!plan || problems.some(({ severity }) => severity === "error")) throw invalidPackage(problems, "nothing was uploaded");
  const adapted = await withManifest(plan, path.join(opened.workspace, "made"), options.identity);
  const isOff = options.isOff || readManifestOf(adapted).document.get("enabled") === false;
  return { plan: adapted, digest: digestOf(adapted), isOff };
}

/** Packs it with a note on where it comes from. */
export async function packDeployable(
  context: Context,
  opened: OpenedPackage,
  { plan, digest, isOff, message }: Deployable & { readonly message: string | undefined },
): Promise<PackageArchive & { readonly plan: PackPlan; readonly deployment: Deployment }> {
  const deployment = await describeDeployment(context, opened, { digest, message });
  const noted = await withDeployment(plan, path.join(opened.workspace, "made"), { deployment, isOff });
  const file = path.join(opened.workspace, "package.tgz");
  const archive = await packWithProgress(context, noted.files, file);
  if (archive.digest !== digest)
    throw new CommandError("FILE_CHANGED", "the folder changed while it was packed; nothing was uploaded", {
      exitCode: exitCodes.failed,
      hint: "try again",
    });
  return { ...archive, file, filename: archiveName(plan.facts), plan: noted, deployment };
}

/** An archive that was ready says nothing of the folder that it was made of. */
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
