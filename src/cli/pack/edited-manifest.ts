import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import * as yaml from "yaml";
import { readFileIfThere } from "../read-file-if-there.js";
import type { PackedFile, PackPlan } from "./pack-plan.js";

export interface ManifestChange {
  readonly entrypoint?: string;
  /** Set beside, or in place of, what the manifest has. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The plan with another manifest, comments kept; one is made when there is none. The new text is written below `directory`. */
export async function withManifest(plan: PackPlan, folder: string, directory: string, change: ManifestChange): Promise<PackPlan> {
  const name = plan.facts.metadataFiles.find((file) => file.startsWith("manifest.")) ?? "manifest.yaml";
  const document = yaml.parseDocument(readFileIfThere(path.join(folder, name)) ?? "");
  const { entrypoint = document.get("entrypoint"), env = {} } = change;
  const isChanged = entrypoint !== document.get("entrypoint") || Object.keys(env).length > 0;
  if (!isChanged) return plan;
  if (change.entrypoint !== undefined) document.set("entrypoint", change.entrypoint);
  for (const [variable, value] of Object.entries(env)) document.setIn(["env", variable], value);
  const file = await writtenFile(directory, { path: name, content: document.toString({ lineWidth: 0 }), rule: "the manifest, adapted" });
  return withFiles(plan, [file]);
}

/** The plan with these files, in place of those of the same path. */
export function withFiles(plan: PackPlan, added: readonly PackedFile[]): PackPlan {
  const names = new Set(added.map((file) => file.path));
  const files = [...plan.files.filter((file) => !names.has(file.path)), ...added];
  return { ...plan, files: files.toSorted((left, right) => (left.path < right.path ? -1 : 1)) };
}

/** A file of the archive that is made, not found: written below `directory` under its path. */
export async function writtenFile(
  directory: string,
  { path: name, content, rule }: { path: string; content: string; rule: string },
): Promise<PackedFile> {
  const source = path.join(directory, name);
  await mkdir(path.dirname(source), { recursive: true });
  await writeFile(source, content);
  return { path: name, source, sizeBytes: Buffer.byteLength(content), rule };
}
