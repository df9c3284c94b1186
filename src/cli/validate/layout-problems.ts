import { ApiError } from "../../shared/api-error.js";
import { entrySegments } from "../../shared/archive/entry-name.js";
import { EntryTree } from "../../shared/archive/entry-tree.js";
import { usualLimits } from "../../shared/archive/usual-limits.js";
import { formatSize, parseSizeBytes } from "../../shared/size.js";
import type { PackPlan } from "../pack/pack-plan.js";
import { looksSecret } from "../../shared/packing/looks-secret.js";
import type { Problem } from "./problem.js";

/** What is wrong with the files that would be packed, their names and their number. */
export function findLayoutProblems({ files, links }: PackPlan): Problem[] {
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
    .map(({ path }): Problem => warning(path, "LOOKS_SECRET", "it looks like a secret and would be packed; .runtimeignore leaves it out"));
  const left = links.map(({ path, rule }): Problem => warning(path, "LINK_LEFT_OUT", `it is left out: ${rule}`));
  return [...refused, ...secrets, ...left, ...sizeProblems(files)];
}

/** Warnings: the operator may allow more. */
function sizeProblems(files: PackPlan["files"]): Problem[] {
  const problems: Problem[] = [];
  const { archiveEntries, expandedSize } = usualLimits;
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  if (files.length > archiveEntries)
    problems.push(warning(".", "ARCHIVE_TOO_LARGE", `it has ${files.length} files; a daemon usually takes ${archiveEntries}`));
  if (sizeBytes > (parseSizeBytes(expandedSize) ?? Infinity))
    problems.push(warning(".", "ARCHIVE_TOO_LARGE", `it is ${formatSize(sizeBytes)} unpacked; a daemon usually takes ${expandedSize}`));
  return problems;
}

function warning(file: string, code: string, message: string): Problem {
  return { severity: "warning", file, code, message };
}
