import { createHash } from "node:crypto";
import { ApiError } from "../../shared/api-error.js";
import { deploymentIn } from "../../shared/deployment.js";
import { latestVersion } from "../../shared/package-name.js";
import { PluginManifest } from "../../shared/plugin-manifest.js";
import { WorkerManifest } from "../../shared/worker-manifest.js";
import type { InstalledPlugin } from "./installed-plugin.js";
import { parseManifestFields } from "./manifest-fields.js";
import { pluginFields, type PluginFields } from "../../shared/plugin-fields.js";
import type { PluginFolder } from "./plugin-folder.js";
import { refuseReservedName } from "./reserved-names.js";

/** What plugins may not have, or ask for, here. */
export interface PluginRules {
  /** Names that uploads cannot take, and first segments that are no plugin's base. */
  readonly reservedNames: ReadonlySet<string>;
  /** Why an app with this manifest would not be served here. */
  readonly refusal?: ((app: WorkerManifest, name: string) => string | undefined) | undefined;
}

/** Where a plugin's code is, and the manifest that was laid over it, if one was. */
export interface PluginLayers {
  readonly code: PluginFolder;
  readonly overlay: PluginFolder | undefined;
}

type Meaning = Pick<InstalledPlugin, "manifest" | "app" | "config">;

/** The plugin that these folders make; one that cannot be used has a `problem`. */
export function describePlugin(layers: PluginLayers, rules: PluginRules): InstalledPlugin {
  const shown = layers.overlay ?? layers.code;
  const removable = shown.directory.source === "uploaded";
  const deployment = deploymentIn(shown.metadata?.declared);
  const place = {
    name: shown.name,
    folder: layers.code.folder,
    path: shown.folder,
    source: layers.code.directory.source,
    removable,
    ...(deployment && { deployment }),
  };
  const seemed = { version: shown.metadata?.version ?? latestVersion, enabled: shown.metadata?.enabled ?? true };
  try {
    const fields = fieldsOf(layers);
    Object.assign(seemed, { version: fields.version, enabled: fields.enabled });
    if (removable) refuseReservedName(shown.name, rules.reservedNames);
    const meaning = parsePlugin(fields, rules);
    return { ...place, ...seemed, ...meaning, manifestHash: hashOf([fields.version, meaning.manifest, meaning.app]) };
  } catch (error) {
    const problem = error instanceof ApiError ? error.message : "Its manifest cannot be used.";
    const nothing = { manifest: PluginManifest.parse({}), app: undefined, config: {} };
    return { ...place, ...seemed, ...nothing, manifestHash: hashOf([problem]), problem };
  }
}

/** What a plugin says about itself; throws when its metadata cannot be used. */
export function fieldsOf({ code, overlay }: PluginLayers): PluginFields {
  const problem = overlay?.problem ?? code.problem;
  if (!code.metadata || problem !== undefined) throw new ApiError("INVALID_PACKAGE_METADATA", problem ?? "It has no metadata.");
  return pluginFields(code.metadata, overlay?.metadata);
}

/** What a plugin's fields mean; throws `INVALID_PACKAGE_METADATA` that names those at fault. */
export function parsePlugin({ fields }: PluginFields, rules: PluginRules): Meaning {
  const manifest = parseManifestFields(PluginManifest, fields);
  const { base, config } = manifest;
  if (base !== undefined && rules.reservedNames.has(base.slice(1))) {
    throw new ApiError("INVALID_PACKAGE_METADATA", `The base ${base} is taken by the runtime itself. Give the plugin another one.`);
  }
  const app = manifest.entrypoint === undefined ? undefined : parseManifestFields(WorkerManifest, fields);
  const refusal = app && rules.refusal?.(app, typeof fields["name"] === "string" ? fields["name"] : "");
  if (refusal !== undefined) throw new ApiError("INVALID_PACKAGE_METADATA", refusal);
  return { manifest, app, config };
}

function hashOf(parts: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
