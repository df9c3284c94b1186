import type { PackageMetadata } from "./package-metadata.js";
import { runtimeKeys } from "./plugin-manifest.js";

/** In package.json these are npm's packages, not plugins. */
const npmKeys = ["dependencies", "optionalDependencies"];

/** What the metadata of a plugin says, before it is known whether that has a meaning. */
export interface PluginFields {
  readonly name: string;
  readonly version: string;
  readonly enabled: boolean;
  /** The keys of its manifest; those that are not the runtime's stand below `config`. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The fields of a plugin, with those of a manifest that was laid over it, which win key by key. */
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
  const own = Object.fromEntries(Object.entries(declared).filter(([key]) => !runtimeKeys.has(key)));
  return { ...fields, config: merged(own, fields["config"] ?? {}) };
}

/** What is no mapping stays as it is, for the manifest's schema to refuse. */
function merged(base: unknown, over: unknown): unknown {
  return isMapping(base) && isMapping(over) ? { ...base, ...over } : over;
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
