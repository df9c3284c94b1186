import { formatSize } from "../../shared/size.js";
import type { Context } from "../command/command.js";
import type { PackageKind } from "../pack/package-info.js";
import type { PackPlan } from "../pack/pack-plan.js";
import type { Settings } from "../config/settings.js";

const labelWidth = 10;

/** One line of what a deployment does, for people. */
export function noteStep({ output }: Context, label: string, text: string): void {
  output.note(text, { text: `  ${label.padEnd(labelWidth)}`, style: "bold" });
}

/** What is deployed, and to where. */
export function notePackage(
  context: Context,
  { facts, files, leftOut }: PackPlan,
  { kind, settings }: { readonly kind: PackageKind; readonly settings: Settings },
): void {
  const profile = settings.profile ? `, profile ${settings.profile.value}${settings.isProduction ? " PRODUCTION" : ""}` : "";
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
  noteStep(context, "Package", `${facts.name} ${facts.version}, ${kind}, to ${settings.origin.value}${profile}`);
  noteStep(context, "Files", `${files.length} packed, ${leftOut.length} left out, ${formatSize(sizeBytes)}`);
}
