import { formatSize } from "../../shared/size.js";
import type { Output } from "../output/output.js";
import type { PackPlan } from "./pack-plan.js";
import type { Archive } from "./write-archive.js";

/**
 * Prints the result of a dry run: each packed and each excluded file with its rule. For an archive that cannot be read, prints only size
 * and hash.
 */
export function showPlan(output: Output, plan: PackPlan | undefined, archive: Archive): void {
  const { sizeBytes, sha256 } = archive;
  const packed = { sizeBytes, sha256 };
  if (plan === undefined) {
    output.result(
      { dryRun: true, ...packed, files: null, leftOut: null },
      `the unchanged archive, ${formatSize(sizeBytes)}, sha256 ${sha256}`,
    );
    return;
  }
  showFiles(output, plan, archive, { document: { dryRun: true }, note: "dry run: nothing was uploaded" });
}

/**
 * Prints the files of a plan and a note. `document` contains additional fields for the JSON document. `label` names the package, by default
 * as NAME@VERSION.
 */
export function showFiles(
  output: Output,
  { facts, files, leftOut }: PackPlan,
  { sizeBytes, sha256 }: Archive,
  { document: added, note, label = `${facts.name}@${facts.version}` }: { document: object; note: string; label?: string },
): void {
  const unpackedBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  const document = {
    ...added,
    name: facts.name,
    version: facts.version,
    entrypoint: facts.entrypoint ?? null,
    ...(facts.pluginEntry === undefined ? {} : { pluginEntry: facts.pluginEntry }),
    sizeBytes,
    sha256,
    unpackedBytes,
    files: files.map(({ path, sizeBytes: size, rule }) => ({ path, sizeBytes: size, rule })),
    leftOut: leftOut.map(({ path, rule }) => ({ path, rule })),
  };
  const rows = [
    ...files.map((file) => ["+", String(file.sizeBytes), file.path, file.rule]),
    ...leftOut.map((entry) => ["-", "", entry.path, entry.rule]),
  ];
  output.table(document, ["", "BYTES", "PATH", "RULE"], rows);
  output.note(`${label}: ${files.length} files, ${formatSize(unpackedBytes)}, ${formatSize(sizeBytes)} packed, sha256 ${sha256}\n${note}`);
}
