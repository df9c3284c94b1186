import { ApiError } from "../../../shared/api-error.js";
import type { ConfigChange, ConfigFault, WorkerConfig } from "../../../shared/contract/configuration.js";
import { latestVersion } from "../../../shared/package-name.js";
import { WorkerManifest } from "../../../shared/worker-manifest.js";
import type { FileCaller } from "../files/file-paths.js";
import type { PackageFiles } from "../files/package-files.js";
import { readWorkerVersion } from "../worker-version.js";
import {
  assertConfigEtag,
  changeRejected,
  lineOfField,
  packageJsonFields,
  parseFields,
  readConfigFiles,
  type ConfigFiles,
} from "./config-files.js";
import { withFields } from "./edited-manifest.js";
import {
  fieldFaults,
  isFieldName,
  isKnownField,
  unknownField,
  workerFields,
  type ManifestFields,
  type WorkerRules,
} from "./worker-fields.js";

interface VersionReference {
  readonly name: string;
  readonly version: string;
}

interface WorkerConfigurationsOptions {
  readonly packages: {
    /** Returns the folder of a version. Throws WORKER_NOT_FOUND or WORKER_VERSION_NOT_FOUND. */
    folderOf(name: string, version: string): string;
    /** Downloads the files of a version unless its folder exists. Throws PACKAGE_UNAVAILABLE. */
    ensure(version: VersionReference & { readonly folder: string }): Promise<void>;
  };
  readonly files: PackageFiles;
  readonly rules: WorkerRules;
}

/** Reads the configuration of worker versions from the manifest and package.json. Writes changes to the manifest. */
export class WorkerConfigurations {
  readonly #options: WorkerConfigurationsOptions;

  constructor(options: WorkerConfigurationsOptions) {
    this.#options = options;
  }

  /** Returns the configuration in effect. If `seesValues` is false, hides the values of `env` and the text of the manifest. */
  async read({ name, version }: VersionReference, { seesValues }: Pick<FileCaller, "seesValues">): Promise<WorkerConfig> {
    const { packages, files, rules } = this.#options;
    const folder = packages.folderOf(name, version);
    await packages.ensure({ name, version, folder });
    const found = readConfigFiles(folder);
    const declared = fieldsOrNone(found.text ?? "", found.fileName) ?? {};
    const inherited = packageJsonFields(found.packageJson);
    const problem = readWorkerVersion(folder, { name, version })?.problem;
    const fields = { ...inherited, ...declared };
    const secrets = WorkerManifest.shape.secrets.safeParse(fields["secrets"]);
    return {
      etag: found.etag,
      editable: files.writer.isWritable(folder),
      ...(problem !== undefined && { problem }),
      fields: workerFields(rules, name, declared, inherited),
      env: variablesIn(fields["env"]).map(([variable, value]) => ({ name: variable, value: seesValues ? value : null })),
      secrets: secrets.success ? secrets.data.map((secret) => secret.name) : [],
      yaml: seesValues ? (found.text ?? "") : null,
    };
  }

  /**
   * Changes the manifest and returns the new configuration, which applies from the next request on. Rejects with PRECONDITION_FAILED, or
   * with INVALID_PACKAGE_METADATA and the invalid fields. After a rejection, nothing has changed.
   */
  async change({ name, version }: VersionReference, change: ConfigChange, caller: FileCaller): Promise<WorkerConfig> {
    const { packages, files } = this.#options;
    const folder = packages.folderOf(name, version);
    await packages.ensure({ name, version, folder });
    if (files.isBuiltIn(folder))
      throw new ApiError("BUILT_IN_WORKER_CHANGE_FORBIDDEN", `${name} ${version} is built in, and its configuration cannot be changed.`);
    const found = readConfigFiles(folder);
    assertConfigEtag(folder, change.etag);
    const text = this.#changedText({ name, version }, found, change);
    await files.writer.saveText(folder, { fileName: found.fileName, text }, { caller, check: () => assertConfigEtag(folder, change.etag) });
    return await this.read({ name, version }, caller);
  }

  /** Returns the text of the manifest after the change. Throws INVALID_PACKAGE_METADATA with all invalid fields. */
  #changedText(reference: VersionReference, found: ConfigFiles, { set, yaml }: ConfigChange): string {
    const faults = set ? this.#faultsOfSet(reference.name, found, set) : this.#faultsOfText(reference, found, yaml ?? "");
    if (faults.length > 0) throw changeRejected(faults);
    if (!set) return yaml ?? "";
    const text = withFields(found.text ?? "", found.fileName, set);
    // Parses the new text again, because the removal of a field can make another field invalid.
    parseFields(text, found.fileName);
    return text;
  }

  #faultsOfSet(name: string, { text, fileName, packageJson }: ConfigFiles, set: ManifestFields): ConfigFault[] {
    parseFields(text ?? "", fileName);
    const inherited = packageJsonFields(packageJson);
    return Object.entries(set).flatMap(([field, value]): ConfigFault[] => {
      if (!isFieldName(field)) return [{ name: field, message: unknownField(field) }];
      if (value !== null) return this.#faultsOf(name, field, value);
      const isInherited = inherited[field] !== undefined && inherited[field] !== null;
      return isInherited ? [{ name: field, message: "is set in package.json; send a value, or remove the field there" }] : [];
    });
  }

  #faultsOfText({ name, version }: VersionReference, { text, fileName, packageJson }: ConfigFiles, sent: string): ConfigFault[] {
    const before = fieldsOrNone(text ?? "", fileName);
    const after = parseFields(sent, fileName);
    const { name: newName, version: newVersion = latestVersion } = { ...packageJsonFields(packageJson), ...after };
    const isSame = { name: newName === name, version: newVersion === version };
    const moved = (["name", "version"] as const).filter((field) => !isSame[field]);
    return [
      ...moved.map((field) => ({ name: field, message: "cannot be changed here; upload a new package", ...lineOfField(sent, [field]) })),
      ...Object.entries(after).flatMap(([field, value]): ConfigFault[] => {
        if (isFieldName(field)) return this.#faultsOf(name, field, value, (keys) => lineOfField(sent, keys));
        // Accepts an unknown field that the manifest already contained, because other tools can use this field.
        const isKept = isKnownField(field) || before === undefined || Object.hasOwn(before, field);
        return isKept ? [] : [{ name: field, message: unknownField(field), ...lineOfField(sent, [field]) }];
      }),
    ];
  }

  #faultsOf(
    name: string,
    field: Parameters<typeof fieldFaults>[2],
    value: unknown,
    lineOf: (keys: PropertyKey[]) => { line?: number } = () => ({}),
  ): ConfigFault[] {
    const faults = fieldFaults(this.#options.rules, name, field, value);
    return faults.map(({ keys, ...fault }) => ({ ...fault, ...lineOf(keys) }));
  }
}

/** Returns the fields of a manifest text. Returns undefined for an invalid text. */
function fieldsOrNone(text: string, fileName: string): Record<string, unknown> | undefined {
  try {
    return parseFields(text, fileName);
  } catch {
    return undefined;
  }
}

function variablesIn(env: unknown): [name: string, value: string][] {
  const parsed = WorkerManifest.shape.env.safeParse(env);
  return parsed.success ? Object.entries(parsed.data) : [];
}
