import path from "node:path";
import { ApiError } from "../../../shared/api-error.js";
import { completedSettings, schemaFaults, type ConfigSchema } from "../../../shared/config-schema.js";
import type { ConfigChange, ConfigFault, ConfigField, PluginConfig } from "../../../shared/contract/configuration.js";
import { pluginFields } from "../../../shared/plugin-fields.js";
import { pluginRuntimeKeys } from "../../../shared/plugin-manifest.js";
import { WorkerManifest } from "../../../shared/worker-manifest.js";
import type { FileCaller } from "../files/file-paths.js";
import type { PackageFiles } from "../files/package-files.js";
import type { CatalogedPlugin, PluginFolder } from "../plugin-catalog.js";
import { parsePackageMetadata } from "../package-metadata.js";
import { exists } from "../transactions/journal.js";
import { assertConfigEtag, changeRejected, lineOfField, parseFields, readConfigFiles } from "./config-files.js";
import { withField } from "./edited-manifest.js";

type Fields = Readonly<Record<string, unknown>>;

interface PluginConfigurationsOptions {
  readonly packages: {
    /** Returns a plugin with its folders. Throws PLUGIN_NOT_FOUND. */
    found(name: string): CatalogedPlugin;
    /** Returns the directory into which the daemon installs new plugins. Rejects with NO_PLUGIN_DIRS if there is no such directory. */
    installArea(): Promise<{ readonly directory: string }>;
    /**
     * Returns the reason why a built-in plugin rejects `overlay`, a manifest that overrides the built-in manifest. Undefined if the plugin
     * accepts it.
     */
    overrideProblem(overlay: PluginFolder): Promise<string | undefined>;
  };
  readonly files: PackageFiles;
}

/** The manifest file that a change of the settings writes. */
interface Target {
  readonly folder: string;
  readonly fileName: string;
  /** Text of the manifest before the change. */
  readonly text: string;
  /** Throws PRECONDITION_FAILED if the configuration has changed after the caller read it. */
  readonly check: () => void;
}

/** Reads and changes the settings of plugins, which the manifests of the plugins contain. */
export class PluginConfigurations {
  readonly #options: PluginConfigurationsOptions;

  constructor(options: PluginConfigurationsOptions) {
    this.#options = options;
  }

  /** Returns the settings in effect. If `seesValues` is false, hides the values of `env` and the text of the manifest. */
  read(name: string, { seesValues }: Pick<FileCaller, "seesValues">): PluginConfig {
    const found = this.#options.packages.found(name);
    const { plugin } = found;
    const files = readConfigFiles(shownFolder(found));
    const schema = plugin.manifest.configSchema;
    const env = WorkerManifest.shape.env.safeParse(declaredIn(files)["env"]);
    return {
      etag: files.etag,
      editable: plugin.source === "built-in" || this.#options.files.writer.isWritable(shownFolder(found)),
      ...(plugin.problem !== undefined && { problem: plugin.problem }),
      fields: settingsOf(schema, declaredSettings(found)),
      env: Object.entries(env.success ? env.data : {}).map(([variable, value]) => ({ name: variable, value: seesValues ? value : null })),
      secrets: [],
      yaml: seesValues ? (files.text ?? "") : null,
      schema: schema ? { ...schema } : null,
    };
  }

  /**
   * Writes new settings to the plugin's manifest, or to a manifest that overrides a built-in plugin. The caller then reloads the plugin.
   * Rejects with PRECONDITION_FAILED or INVALID_PACKAGE_METADATA, and then writes nothing.
   */
  async change(name: string, change: ConfigChange, caller: FileCaller): Promise<void> {
    const found = this.#options.packages.found(name);
    const target = await this.#targetOf(found, change.etag);
    target.check();
    const text = change.set ? editedText(found, target, change.set) : (change.yaml ?? "");
    await this.#assertAccepted(found, target, text, { isSent: change.set === undefined });
    await this.#options.files.writer.saveText(target.folder, { fileName: target.fileName, text }, { caller, check: target.check });
  }

  async #targetOf(found: CatalogedPlugin, etag: string): Promise<Target> {
    const { plugin, overlay, code } = found;
    const own = [overlay, code].find((folder) => folder?.directory.source === "uploaded");
    if (own) {
      const { fileName, text = "" } = readConfigFiles(own.folder);
      return { folder: own.folder, fileName, text, check: () => assertConfigEtag(own.folder, etag) };
    }
    const folder = path.join((await this.#options.packages.installArea()).directory, plugin.name);
    if (exists(folder) && this.#options.packages.found(plugin.name).overlay === undefined)
      throw new ApiError(
        "BUILT_IN_PLUGIN_CHANGE_FORBIDDEN",
        `The manifest for the built-in plugin ${plugin.name} cannot be stored, because ${folder} already exists. Move or delete ${folder}.`,
      );
    const check = () => {
      // If another change has meanwhile created the overriding manifest, compares `etag` with this manifest. The check then fails.
      assertConfigEtag(exists(folder) ? folder : code.folder, etag);
    };
    return { folder, fileName: "manifest.yaml", text: `name: ${JSON.stringify(plugin.name)}\n`, check };
  }

  /**
   * Throws INVALID_PACKAGE_METADATA if the plugin's schema or the built-in plugin rejects the settings in `text`. If the caller sent this
   * text (`isSent`), the error contains line numbers.
   */
  async #assertAccepted(found: CatalogedPlugin, target: Target, text: string, { isSent }: { isSent: boolean }): Promise<void> {
    const { plugin, builtIn } = found;
    const declared = parseFields(text, target.fileName);
    const lineOf = (keys: readonly (string | number)[]) => {
      if (!isSent) return {};
      const { line } = lineOfField(text, keys);
      return line === undefined ? lineOfField(text, ["config", ...keys]) : { line };
    };
    if (declared["name"] !== undefined && declared["name"] !== plugin.name)
      throw changeRejected([{ name: "name", message: "cannot be changed here; upload a new package", ...lineOf(["name"]) }]);
    const { faults } = completedSettings(plugin.manifest.configSchema ?? {}, settingsIn(declared));
    if (faults.length > 0) throw changeRejected(faults.map(({ path: keys, message }) => ({ ...faultOf(keys, message), ...lineOf(keys) })));
    const problem = builtIn && (await this.#options.packages.overrideProblem(overlayOf(found, target.folder, text)));
    if (problem !== undefined) throw changeRejected(problemFaults(problem));
  }
}

/** Returns the folder of the overriding manifest. Without an override, returns the folder of the plugin. */
function shownFolder({ overlay, code }: CatalogedPlugin): string {
  return (overlay ?? code).folder;
}

/** Returns the settings that the manifests contain, without defaults of the schema. */
function declaredSettings({ code, overlay }: CatalogedPlugin): Fields {
  const config = code.metadata && pluginFields(code.metadata, overlay?.metadata).fields["config"];
  return isObject(config) ? config : {};
}

function settingsOf(schema: ConfigSchema | undefined, declared: Fields): ConfigField[] {
  const properties = schema?.properties ?? {};
  const known = Object.entries(properties).map(([name, property]): ConfigField => {
    const own = declared[name];
    return own === undefined
      ? { name, value: property.default ?? null, source: "default" }
      : { name, value: own, source: "manifest", ...noteOf(schemaFaults(property, own, [name])[0]) };
  });
  const others = Object.entries(declared).filter(([name]) => !Object.hasOwn(properties, name));
  const note = schema && { note: "The schema of the plugin has no such setting." };
  return [...known, ...others.map(([name, value]): ConfigField => ({ name, value, source: "manifest", ...note }))];
}

function noteOf(fault: { readonly message: string } | undefined): { note?: string } {
  return fault ? { note: `The value is not accepted: ${fault.message}` } : {};
}

/** Returns the manifest text with the new settings. Throws INVALID_PACKAGE_METADATA if a name in `set` is not a setting of the plugin. */
function editedText(found: CatalogedPlugin, { text, fileName }: Target, set: Fields): string {
  const { manifest } = found.plugin;
  const properties = manifest.configSchema?.properties ?? {};
  const declared = declaredSettings(found);
  const unknown = Object.keys(set).filter(
    (name) => !Object.hasOwn(properties, name) && !(set[name] === null && Object.hasOwn(declared, name)),
  );
  const names = Object.keys(properties).join(", ");
  const message = names === "" ? "cannot be set: the plugin has no configSchema" : `is not a setting of the plugin (there are ${names})`;
  if (unknown.length > 0) throw changeRejected(unknown.map((name) => ({ name, message })));
  return Object.entries(set).reduce(
    (edited, [name, value]) => withField(edited, fileName, pathOfSetting(edited, fileName, name), value),
    text,
  );
}

/**
 * Returns the path of a setting in the manifest. The path begins with `config` if `config` already contains the setting, or if a field of
 * the manifest has the same name. Otherwise the setting is a top-level field.
 */
function pathOfSetting(text: string, fileName: string, name: string): string[] {
  const { config } = parseFields(text, fileName);
  const isInConfig = isObject(config) && Object.hasOwn(config, name);
  return isInConfig || pluginRuntimeKeys.has(name) ? ["config", name] : [name];
}

/** Returns the settings of a plugin from the top level and from `config` of a manifest. */
function settingsIn(declared: Fields): Fields {
  const own = Object.entries(declared).filter(([key]) => !pluginRuntimeKeys.has(key));
  return { ...Object.fromEntries(own), ...(isObject(declared["config"]) ? declared["config"] : {}) };
}

/** Returns the folder of a built-in plugin's override with `text` as the content of its manifest. */
function overlayOf({ plugin }: CatalogedPlugin, folder: string, text: string): PluginFolder {
  const metadata = parsePackageMetadata((fileName) => (fileName === "manifest.yaml" ? text : undefined));
  return { directory: { path: path.dirname(folder), source: "uploaded" }, folder, name: plugin.name, metadata };
}

function declaredIn({ text, fileName }: { readonly text: string | undefined; readonly fileName: string }): Fields {
  try {
    return parseFields(text ?? "", fileName);
  } catch {
    return {};
  }
}

function faultOf([name = "", ...rest]: readonly (string | number)[], message: string): ConfigFault {
  return { name: String(name), message: rest.length === 0 ? message : `${rest.join(".")}: ${message}` };
}

/** Returns one fault for each line of a built-in plugin's error. A line names the setting, such as `rateLimits[0].window: is missing`. */
function problemFaults(problem: string): ConfigFault[] {
  const faults = problem.split("\n").flatMap((line): ConfigFault[] => {
    const [, name, rest = "", message] = /^(\w+)(\S*?): (.+)$/.exec(line) ?? [];
    return name === undefined || message === undefined
      ? []
      : [{ name, message: rest === "" ? message : `${rest.replace(/^\./, "")}: ${message}` }];
  });
  return faults.length > 0 ? faults : [{ name: "config", message: problem }];
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
