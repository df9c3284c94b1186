import type { PackageMetadata } from "./package-metadata.js";
import { pluginRuntimeKeys } from "./plugin-manifest.js";

/** Keys of package.json that name npm packages and not plugins. */
const npmKeys = ["dependencies", "optionalDependencies"];

/** The metadata of a plugin before validation. */
export interface PluginFields {
  readonly name: string;
  readonly version: string;
  readonly enabled: boolean;
  /** The keys of the manifest. Keys unknown to the runtime are below `config`. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Returns the fields of a plugin. Keys of an override manifest replace them one by one. */
export function pluginFields(metadata: PackageMetadata, overlay: PackageMetadata | undefined): PluginFields {
  const { name, version, enabled, declared = {} } = metadata;
  const npm = Object.entries(metadata.fields).filter(([key]) => !npmKeys.includes(key));
  const own = { name, version, enabled, fields: withConfig({ ...Object.fromEntries(npm), ...declared }, declared) };
  return overlay ? laidOver(own, overlay) : own;
}

function laidOver(base: PluginFields, { version, enabled, declared = {} }: PackageMetadata): PluginFields {
  const fields = withConfig(declared, declared);
  return {
    name: base.name,
    version: "version" in declared ? version : base.version,
    enabled: "enabled" in declared ? enabled : base.enabled,
    fields: { ...base.fields, ...fields, config: merged(base.fields["config"], fields["config"]) },
  };
}

function withConfig(fields: Readonly<Record<string, unknown>>, declared: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const own = Object.fromEntries(Object.entries(declared).filter(([key]) => !pluginRuntimeKeys.has(key)));
  return { ...fields, config: merged(own, fields["config"] ?? {}) };
}

/** Merges two mappings. Returns other values unchanged, for the schema to reject. */
function merged(base: unknown, over: unknown): unknown {
  return isMapping(base) && isMapping(over) ? { ...base, ...over } : over;
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
