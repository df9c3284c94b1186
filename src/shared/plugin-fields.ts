import type { PackageMetadata } from "./package-metadata.js";
import { pluginRuntimeKeys } from "./plugin-manifest.js";

/** Fields of package.json to ignore: they name npm packages, and fields with the same names in a plugin manifest name plugins. */
const npmKeys = ["dependencies", "optionalDependencies"];

/** The metadata of a plugin, before validation against `PluginManifest`. */
export interface PluginFields {
  readonly name: string;
  readonly version: string;
  readonly enabled: boolean;
  /** The fields of the manifest. Fields that the runtime does not define are below `config`. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Returns the metadata of a plugin. Each field of an override manifest replaces the plugin's field with the same name. */
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
    fields: {
      ...base.fields,
      ...fields,
      config: merged(base.fields["config"], fields["config"]),
      // The code decides which settings it has.
      configSchema: base.fields["configSchema"],
    },
  };
}

function withConfig(fields: Readonly<Record<string, unknown>>, declared: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const own = Object.fromEntries(Object.entries(declared).filter(([key]) => !pluginRuntimeKeys.has(key)));
  return { ...fields, config: merged(own, fields["config"] ?? {}) };
}

/** Returns the merged mappings. Returns `over` if one value is not a mapping, so that the schema rejects it. */
function merged(base: unknown, over: unknown): unknown {
  return isMapping(base) && isMapping(over) ? { ...base, ...over } : over;
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
