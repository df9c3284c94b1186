import type { PackageMetadata } from "./package-metadata.js";
import { pluginRuntimeKeys } from "./plugin-manifest.js";

/**
 * Fields of package.json that list npm packages. They do not become fields of the plugin, because the manifest fields of the same names
 * list plugins.
 */
const npmKeys = ["dependencies", "optionalDependencies"];

/** The metadata of a plugin, before validation against `PluginManifest`. */
export interface PluginFields {
  readonly name: string;
  readonly version: string;
  readonly enabled: boolean;
  /** The fields of the manifest. The field `config` contains all fields that the runtime does not define. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Returns the metadata of a plugin. Each field of the override manifest `overlay` replaces the field of the plugin with the same name. The
 * settings in `config` are replaced one by one.
 */
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
      // The schema of the settings comes from the plugin's own manifest, because only the code of the plugin uses the settings.
      configSchema: base.fields["configSchema"],
    },
  };
}

function withConfig(fields: Readonly<Record<string, unknown>>, declared: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const own = Object.fromEntries(Object.entries(declared).filter(([key]) => !pluginRuntimeKeys.has(key)));
  return { ...fields, config: merged(own, fields["config"] ?? {}) };
}

/**
 * Returns the entries of two mappings; an entry of `over` replaces the entry of `base` with the same key. If one of the values is not a
 * mapping, returns `over`, so that the schema rejects an invalid value.
 */
function merged(base: unknown, over: unknown): unknown {
  return isMapping(base) && isMapping(over) ? { ...base, ...over } : over;
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
