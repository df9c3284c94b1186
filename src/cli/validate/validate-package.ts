import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import type { OpenedPackage } from "../pack/open-package.js";
import type { PackageIdentity } from "../pack/package-info.js";
import type { PackPlan } from "../pack/pack-plan.js";
import { findLayoutProblems } from "./layout-problems.js";
import { findManifestProblems } from "./manifest-problems.js";
import { findSyntaxProblems } from "./syntax-errors.js";
import { describeProblem, type Problem } from "./problem.js";

export interface Validation {
  readonly problems: readonly Problem[];
  /** Undefined when the manifest is too wrong to say what would be packed. */
  readonly plan: PackPlan | undefined;
}

export interface ValidationOptions {
  readonly bundle?: boolean;
  /** Stands in for what the manifest says. */
  readonly identity?: PackageIdentity;
}

/** Looks for all that the daemon would refuse, without one, and for what looks like a mistake. */
export async function validatePackage(opened: OpenedPackage, options: ValidationOptions = {}): Promise<Validation> {
  const given = Object.keys(options.identity ?? {});
  const found = await findManifestProblems(opened.source, opened.kind);
  const problems = found.filter(({ code }) => !given.some((key) => identityCodes[key]?.includes(code)));
  if (problems.some(({ severity }) => severity === "error")) return { problems, plan: undefined };
  const plan = await opened.plan(options);
  return { problems: [...problems, ...findLayoutProblems(plan), ...(await findSyntaxProblems(plan))], plan };
}

const identityCodes: Readonly<Record<string, readonly string[]>> = {
  name: ["MISSING_PACKAGE_NAME", "INVALID_PACKAGE_NAME"],
  version: ["INVALID_PACKAGE_VERSION"],
};

/** The failure that lists what is wrong. */
export function invalidPackage(problems: readonly Problem[], consequence: string): CommandError {
  const errors = problems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  const count = errors.length === 1 ? "1 problem" : `${errors.length} problems`;
  return new CommandError(first?.code ?? "INVALID_PACKAGE_METADATA", `the package has ${count}; ${consequence}`, {
    exitCode: exitCodes.failed,
    details: errors.flatMap((problem) => [describeProblem(problem), ...(problem.excerpt ?? [])]),
  });
}
