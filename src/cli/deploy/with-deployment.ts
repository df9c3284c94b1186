import { isMap, isScalar, type Document } from "yaml";
import type { Deployment } from "../../shared/deployment.js";
import { ContentDigest } from "../pack/content-digest.js";
import { readManifestOf, withFiles, writtenFile } from "../pack/edited-manifest.js";
import type { PackedFile, PackPlan } from "../pack/pack-plan.js";
import { createTarStream } from "../pack/create-tar-stream.js";

/** The digest of what a plan packs, whatever an earlier deployment noted in the manifest. Reads every file. */
export function digestOf(plan: PackPlan): string {
  const { file, document } = readManifestOf(plan);
  const digestedAs = textWithoutDeployment(document);
  const digest = new ContentDigest();
  const files = plan.files.map((each): PackedFile => (each.path === file ? { ...each, digestedAs } : each));
  for (const _ of createTarStream(files, digest)) continue;
  return digest.hex();
}

/** The plan with a manifest that says where the version comes from; with `isOff`, also that it is not to be served. */
export async function withDeployment(
  plan: PackPlan,
  directory: string,
  { deployment, isOff }: { deployment: Deployment; isOff: boolean },
): Promise<PackPlan> {
  const { file, document } = readManifestOf(plan);
  const digestedAs = textWithoutDeployment(document);
  if (isOff) document.set("enabled", false);
  document.set("deploy", blockOf(document, deployment));
  const content = document.toString({ lineWidth: 0 });
  const manifest = await writtenFile(directory, { path: file, content, rule: "the manifest, with a note on this deployment" });
  return withFiles(plan, [{ ...manifest, digestedAs }]);
}

/** As YAML writes it, so that it is the same for a manifest that YAML wrote before. Empty when it says nothing else. */
function textWithoutDeployment(document: Document): string {
  const copy = document.clone();
  copy.delete("deploy");
  const isEmpty = copy.contents === null || (isMap(copy.contents) && copy.contents.items.length === 0);
  return isEmpty ? "" : copy.toString({ lineWidth: 0 });
}

/** All texts in quotes: a commit could be a number to YAML. */
function blockOf(document: Document, deployment: Deployment): unknown {
  const block = document.createNode(deployment);
  if (isMap(block))
    for (const { value } of block.items) if (isScalar(value) && typeof value.value === "string") value.type = "QUOTE_DOUBLE";
  return block;
}
