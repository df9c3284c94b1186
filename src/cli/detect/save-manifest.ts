import { writeFile } from "node:fs/promises";
import path from "node:path";
import { manifestFileNames } from "../../shared/metadata-file-names.js";
import { usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import type { OpenedPackage } from "../pack/open-package.js";
import { manifestTextOf } from "./detect-project.js";

/**
 * Writes the manifest of a detected project into the project folder. Throws a usage error if no project was detected or a manifest exists.
 */
export async function saveManifest(context: Context, { project, folder, isArchive }: OpenedPackage): Promise<void> {
  if (isArchive) throw usageError("--save cannot be used with an archive, because it writes the manifest into a folder", "remove --save");
  if (!project?.output)
    throw usageError("--save cannot write a manifest: the folder already has a manifest, or contains no project of a known type");
  if (project.output.module)
    throw usageError(
      `--save cannot be used with ${project.kind}, because the entrypoint exists only in the archive that runtimectl generates`,
      "remove --save",
    );
  const [file] = manifestFileNames;
  await writeFile(path.join(folder, file), manifestTextOf(project.output), { flag: "wx" });
  context.output.note(`wrote ${file}`);
}
