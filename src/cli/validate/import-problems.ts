import { excerptOf } from "../pack/bundle-failure.js";
import { hasPackage } from "../pack/imported-packages.js";
import type { PackPlan } from "../pack/pack-plan.js";
import type { Problem } from "./problem.js";

/**
 * Returns a problem for each import of a missing file or of a package that is not packed. The problem is an error if the entrypoint
 * contains the import, because the entrypoint is always loaded. Otherwise it is a warning.
 */
export function findImportProblems(plan: PackPlan): Problem[] {
  const { imports, facts } = plan;
  if (!imports) return [];
  const severityFor = (file: string) => (file === facts.entrypoint ? "error" : "warning");
  const files = imports.missingFiles.map(({ specifier, location }): Problem => {
    const place = location ? { line: location.line, column: location.column + 1, excerpt: excerptOf(location) } : {};
    const file = location?.file ?? facts.entrypoint ?? ".";
    return { severity: severityFor(file), code: "IMPORT_NOT_FOUND", message: `the import ${specifier} does not exist`, file, ...place };
  });
  const reported = new Set<string>();
  const packages = imports.packages.flatMap(({ name, folder, importer, isOptional }): Problem[] => {
    if (reported.has(name) || hasPackage(plan, { name, importer })) return [];
    reported.add(name);
    const fix = folder === undefined ? `npm install ${name}` : "use --bundle, or do not exclude node_modules";
    const state = folder === undefined ? "is not installed" : "is not packed";
    return [
      {
        severity: isOptional ? "warning" : severityFor(importer),
        code: "DEPENDENCY_NOT_PACKED",
        message: `the package ${name} ${state}: ${fix}`,
        file: importer,
      },
    ];
  });
  return [...files, ...packages];
}
