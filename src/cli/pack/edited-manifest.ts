import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import * as yaml from "yaml";
import { readFileIfThere } from "../config/read-file-if-there.js";
import type { PackedFile, PackPlan } from "./pack-plan.js";

export interface ManifestChange {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly entrypoint?: string | undefined;
  /** Set beside, or in place of, what the manifest has. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The plan with another manifest, comments kept; one is made when there is none. The new text is written below `directory`. */
export async function withManifest(plan: PackPlan, directory: string, change: ManifestChange): Promise<PackPlan> {
  const { env = {}, ...fields } = change;
  const { file, document } = readManifestOf(plan);
  const changed = Object.entries(fields).filter(([key, value]) => value !== undefined && value !== document.get(key));
  if (changed.length === 0 && Object.keys(env).length === 0) return plan;
  for (const [key, value] of changed) document.set(key, value);
  for (const [variable, value] of Object.entries(env)) document.setIn(["env", variable], value);
  const content = document.toString({ lineWidth: 0 });
  return withFiles(plan, [await writtenFile(directory, { path: file, content, rule: "the manifest, adapted" })]);
}

/** The manifest as the plan has it, maybe adapted already; an empty one when there is none. */
export function readManifestOf({ facts, files }: PackPlan): { file: string; document: yaml.Document } {
  const name = facts.metadataFiles.find((file) => file.startsWith("manifest.")) ?? "manifest.yaml";
  const packed = files.find((file) => file.path === name);
  const document: yaml.Document = yaml.parseDocument((packed && readFileIfThere(packed.source)) ?? "");
  // A document without any key takes none until it has a mapping.
  document.contents ??= new yaml.YAMLMap();
  return { file: name, document };
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
