import { lstatSync } from "node:fs";
import path from "node:path";
import { manifestFileNames } from "../../shared/metadata-file-names.js";
import { writtenFile } from "../pack/bundle-plan.js";
import { filesBelow } from "../pack/files-below.js";
import type { PackedFile, PackOptions } from "../pack/pack-plan.js";
import { folderSource } from "../pack/package-info.js";
import { buildCommandOf, notBuilt } from "./build-project.js";
import { detectProject, manifestTextOf, withDetectedManifest, type DetectedOutput, type DetectedProject } from "./detect-project.js";

/** A detected project and the options that pack its output. */
export interface DetectedPackage {
  readonly project: DetectedProject;
  readonly options: Required<Pick<PackOptions, "source" | "added">> & Pick<PackOptions, "only">;
}

/**
 * Detects the build output in a folder without a manifest, and writes the generated files below `workspace`. Returns undefined if the
 * folder has a manifest. Throws NOT_BUILT if the build output is missing.
 */
export async function detectPackage(folder: string, workspace: string): Promise<DetectedPackage | undefined> {
  const project = await detectProject(folder);
  if (!project) return undefined;
  const { output } = project;
  if (!output) throw notBuilt(project, await buildCommandOf(folder));
  const source = withDetectedManifest(folderSource(folder), output);
  return { project, options: { source, only: output.packed, added: await detectedFiles(folder, output, workspace) } };
}

/** Returns the files that the package contains in addition to files of the project: the manifest, a generated module, and copies. */
async function detectedFiles(folder: string, output: DetectedOutput, workspace: string): Promise<PackedFile[]> {
  const directory = path.join(workspace, "detected");
  const written = [{ path: manifestFileNames[0] as string, content: manifestTextOf(output), rule: "the manifest for the detected output" }];
  if (output.module) written.push({ path: output.module.path, content: output.module.text, rule: "a module for the detected output" });
  const files = await Promise.all(written.map((file) => writtenFile(directory, file)));
  return [...files, ...(output.copies ?? []).flatMap(({ from, to }) => copied(path.join(folder, from), to))];
}

function copied(source: string, target: string): PackedFile[] {
  if (!lstatSync(source, { throwIfNoEntry: false })?.isDirectory()) return [];
  const rule = "a copy for the detected output";
  return filesBelow(source).map(({ name, ...file }) => ({ ...file, path: `${target}/${name}`, rule }));
}
