import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import type { OpenedPackage } from "../pack/open-package.js";
import type { PackageIdentity } from "../pack/package-info.js";
import type { PackPlan } from "../pack/pack-plan.js";
import { findImportProblems } from "./import-problems.js";
import { findPageProblems } from "./page-problems.js";
import { findManifestProblems } from "./manifest-problems.js";
import { findSyntaxProblems } from "./syntax-errors.js";
import { describeProblem, type Problem } from "./problem.js";
import { ApiError } from "../../shared/api-error.js";
import { entrySegments } from "../../shared/archive/entry-name.js";
import { EntryTree } from "../../shared/archive/entry-tree.js";
import { usualLimits } from "../../shared/archive/usual-limits.js";
import { formatSize, parseSizeBytes } from "../../shared/size.js";
import { looksSecret } from "../../shared/packing/looks-secret.js";

const identityCodes: Readonly<Record<string, readonly string[]>> = {
  name: ["MISSING_PACKAGE_NAME", "INVALID_PACKAGE_NAME"],
  version: ["INVALID_PACKAGE_VERSION"],
};

interface Validation {
  readonly problems: readonly Problem[];
  /** The files to pack. Undefined if the manifest has errors. */
  readonly plan: PackPlan | undefined;
}

interface ValidationOptions {
  readonly bundle?: boolean;
  /** Names of packages whose code the bundle does not contain. */
  readonly externals?: readonly string[];
  /** Name and version from the command line. They override the manifest. */
  readonly identity?: PackageIdentity;
}

/**
 * Returns all problems for which the daemon would reject the package, and warnings about probable mistakes. Sends no request to a daemon.
 */
export async function validatePackage(opened: OpenedPackage, options: ValidationOptions = {}): Promise<Validation> {
  const given = Object.keys(options.identity ?? {});
  const declared = await findManifestProblems(opened.source, opened.kind);
  const problems = declared.filter(({ code }) => !given.some((key) => identityCodes[key]?.includes(code)));
  if (problems.some(({ severity }) => severity === "error")) return { problems, plan: undefined };
  const plan = await opened.plan(options);
  const syntax = await findSyntaxProblems(plan);
  const found = [...findLayoutProblems(plan), ...syntax, ...findImportProblems(plan), ...(await findPageProblems(plan))];
  return { problems: [...problems, ...found], plan };
}

/** Returns the error for an invalid package. The error lists all problems with the severity `error`. */
export function invalidPackage(problems: readonly Problem[], consequence: string): CommandError {
  const errors = problems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  const count = errors.length === 1 ? "1 problem" : `${errors.length} problems`;
  return new CommandError(first?.code ?? "INVALID_PACKAGE_METADATA", `the package has ${count}; ${consequence}`, {
    exitCode: exitCodes.failed,
    details: errors.flatMap((problem) => [describeProblem(problem), ...(problem.excerpt ?? [])]),
  });
}

/** Returns problems with the packed files. Checks names, assets, possible secrets, links, number and size. */
export function findLayoutProblems({ files, links, facts }: PackPlan): Problem[] {
  const tree = new EntryTree();
  const refused = files.flatMap(({ path }): Problem[] => {
    try {
      tree.addFile(entrySegments(path, "file"));
      return [];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return [{ severity: "error", code: error.code, message: error.message, file: path }];
    }
  });
  const secrets = files
    .filter(({ path }) => looksSecret(path))
    .map(({ path }): Problem =>
      warning(path, "LOOKS_SECRET", "looks like a secret and would be packed; to exclude it, add it to .runtimeignore"),
    );
  const hasAssets = facts.assetsDirectory === undefined || files.some(({ path }) => path.startsWith(`${facts.assetsDirectory}/`));
  const missing: Problem = {
    severity: "error",
    code: "ASSETS_NOT_FOUND",
    message: `the folder ${facts.assetsDirectory} of assets has no files; build the package first, or correct assets in the manifest`,
    file: facts.metadataFiles[0] ?? "manifest.yaml",
  };
  const isEntryPacked = facts.entrypoint === undefined || files.some(({ path }) => path === facts.entrypoint);
  const excluded: Problem = {
    severity: "error",
    code: "ENTRYPOINT_NOT_FOUND",
    message: `the entrypoint ${facts.entrypoint} is excluded from the package`,
    file: facts.metadataFiles[0] ?? ".",
  };
  const left = links.map(({ path, rule }): Problem => warning(path, "LINK_LEFT_OUT", `is excluded: ${rule}`));
  return [...refused, ...(hasAssets ? [] : [missing]), ...(isEntryPacked ? [] : [excluded]), ...secrets, ...left, ...sizeProblems(files)];
}

/** Returns warnings if the files exceed the default limits of the daemon. Returns no errors, because the operator can raise the limits. */
function sizeProblems(files: PackPlan["files"]): Problem[] {
  const problems: Problem[] = [];
  const { archiveEntries, expandedSize } = usualLimits;
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  if (files.length > archiveEntries)
    problems.push(warning(".", "ARCHIVE_TOO_LARGE", `the package has ${files.length} files; the default limit is ${archiveEntries}`));
  if (sizeBytes > (parseSizeBytes(expandedSize) ?? Infinity))
    problems.push(
      warning(".", "ARCHIVE_TOO_LARGE", `the package is ${formatSize(sizeBytes)} unpacked; the default limit is ${expandedSize}`),
    );
  return problems;
}

function warning(file: string, code: string, message: string): Problem {
  return { severity: "warning", file, code, message };
}
