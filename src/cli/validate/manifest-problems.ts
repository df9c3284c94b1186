import path from "node:path";
import type * as z from "zod";
import { ApiError } from "../../shared/api-error.js";
import { completedSettings, type SchemaFault } from "../../shared/config-schema.js";
import { nearestWord } from "../../shared/nearest-word.js";
import { enabledOf, nameOf, versionOf } from "../../shared/package-metadata.js";
import { pluginFields } from "../../shared/plugin-fields.js";
import { PluginManifest, runtimeKeys } from "../../shared/plugin-manifest.js";
import { PluginAppManifest, WorkerManifest } from "../../shared/worker-manifest.js";
import { readPackageInfo, type PackageKind, type PackageSource } from "../pack/package-info.js";
import { positionOf, readManifestText, readPackageJsonText, type MetadataText } from "./metadata-text.js";
import type { Problem } from "./problem.js";
import { looksSecretValue } from "./secret-values.js";
import { issueText, validationMessage } from "../../shared/validation-message.js";

type Fields = Readonly<Record<string, unknown>>;

/** Names that no worker can have on any daemon. RUNTIME_API_PREFIX can reserve another name. */
const reservedNames = ["api", "cpanel"];

/** Returns all problems in the manifest, in package.json and with the entrypoint. Applies the rules and schemas of the daemon. */
export async function findManifestProblems(source: PackageSource, kind: PackageKind): Promise<Problem[]> {
  const [manifest, packageJson] = await Promise.all([readManifestText(source), readPackageJsonText(source)]);
  const unreadable = [...manifest.problems, ...packageJson.problems];
  if (unreadable.length > 0) return unreadable;
  const metadata = new Metadata(manifest.text, packageJson.text);
  return [
    ...metadata.identityProblems(),
    ...metadata.schemaProblems(kind),
    ...(kind === "worker" ? metadata.unknownKeys() : []),
    ...metadata.secretValues(kind),
    ...(await metadata.startProblems(source, kind)),
  ];
}

class Metadata {
  readonly #manifest: MetadataText | undefined;
  readonly #packageJson: MetadataText | undefined;
  readonly #fields: Fields;

  constructor(manifest: MetadataText | undefined, packageJson: MetadataText | undefined) {
    this.#manifest = manifest;
    this.#packageJson = packageJson;
    this.#fields = { ...packageJson?.fields, ...manifest?.fields };
  }

  identityProblems(): Problem[] {
    const checks: [key: string, check: (fields: Fields) => unknown][] = [
      ["name", nameOf],
      ["version", (fields) => versionOf(fields, this.#writtenVersion())],
      ["enabled", enabledOf],
    ];
    const problems = checks.flatMap(([key, check]) => {
      const refusal = refusalOf(() => check(this.#fields));
      return refusal ? [this.#problem([key], refusal.code, refusal.message)] : [];
    });
    const { name } = this.#fields;
    if (reservedNames.includes(String(name)))
      problems.push(this.#problem(["name"], "INVALID_PACKAGE_NAME", `the name ${String(name)} is reserved`));
    return problems;
  }

  schemaProblems(kind: PackageKind): Problem[] {
    if (kind === "worker") return this.#issues(WorkerManifest, this.#fields);
    const declared = this.#manifest?.fields ?? {};
    const { fields } = pluginFields({ name: "", version: "", enabled: true, fields: this.#fields, declared }, undefined);
    const manifest = PluginManifest.safeParse(fields);
    const own = manifest.success ? this.#settingsProblems(manifest.data) : this.#issues(PluginManifest, fields);
    return typeof fields["entrypoint"] === "string" ? [...own, ...this.#issues(PluginAppManifest, fields, PluginManifest)] : own;
  }

  /** Returns problems with the settings of a plugin, and with the defaults that its `configSchema` sets for missing settings. */
  #settingsProblems(manifest: PluginManifest): Problem[] {
    const { config, configSchema } = manifest;
    if (!configSchema) return [];
    return completedSettings(configSchema, config).faults.map((fault) => {
      const place = this.#pathOfSetting(fault, manifest);
      const name = Object.hasOwn(config, String(fault.path[0])) ? fault.path.join(".") : place.join(".");
      return this.#problem(place, "INVALID_PACKAGE_METADATA", `${name}: ${fault.message}`);
    });
  }

  /** Returns the path of an invalid setting in the manifest, or of its default if the manifest has no value for the setting. */
  #pathOfSetting({ path: [name = "", ...rest] }: SchemaFault, { config, configSchema }: PluginManifest): (string | number)[] {
    const hasDefault = configSchema?.properties?.[name]?.default !== undefined;
    if (!Object.hasOwn(config, name) && hasDefault) return ["configSchema", "properties", name, "default"];
    const below = this.#fields["config"];
    const isBelow = typeof below === "object" && below !== null && Object.hasOwn(below, name);
    return isBelow ? ["config", name, ...rest] : [name, ...rest];
  }

  /**
   * Returns warnings for unknown fields in the manifest of a worker. In the manifest of a plugin, unknown fields are the settings of the
   * plugin.
   */
  unknownKeys(): Problem[] {
    return Object.keys(this.#manifest?.fields ?? {})
      .filter((key) => !runtimeKeys.has(key))
      .map((key) => {
        const nearest = nearestWord(key, [...runtimeKeys]);
        const meant = nearest === undefined ? "" : `; did you mean ${nearest}?`;
        return { ...this.#problem([key], "UNKNOWN_KEY", `unknown key ${key}${meant}`, true), severity: "warning" };
      });
  }

  /** Returns warnings for variables whose values are probably secrets. Each user who can read the package can also read these values. */
  secretValues(kind: PackageKind): Problem[] {
    const { env } = this.#fields;
    if (typeof env !== "object" || env === null) return [];
    const { name } = this.#fields;
    const instead =
      kind === "worker" && typeof name === "string"
        ? (variable: string) => `; remove it and run: runtimectl secrets set ${name} ${variable}`
        : () => "";
    return Object.entries(env)
      .filter(([variable, value]) => looksSecretValue(variable, String(value)))
      .map(([variable]) => ({
        ...this.#problem(["env", variable], "LOOKS_SECRET", `env.${variable} looks like a secret${instead(variable)}`, true),
        severity: "warning",
      }));
  }

  /** Returns problems with the files in the manifest fields `entrypoint` and `pluginEntry`. */
  async startProblems(source: PackageSource, kind: PackageKind): Promise<Problem[]> {
    const missing: Problem[] = [];
    for (const key of kind === "worker" ? ["entrypoint"] : ["entrypoint", "pluginEntry"]) {
      const named = this.#manifest?.fields[key];
      if (typeof named !== "string" || named === "" || (await source.isFile(path.posix.normalize(named)))) continue;
      missing.push(
        this.#problem([key], "ENTRYPOINT_NOT_FOUND", `the ${key} ${named} does not exist; build the package first, or correct ${key}`),
      );
    }
    if (missing.length > 0) return missing;
    const facts = await readPackageInfo(source, kind, { name: "any", version: "1.0.0" }).catch(() => undefined);
    if (!facts || facts.entrypoint !== undefined || facts.pluginEntry !== undefined) return [];
    if (kind === "worker")
      return [
        this.#problem(
          [],
          "ENTRYPOINT_NOT_FOUND",
          "the package has nothing to serve: no index.html, index.js, start script or framework; name the file with entrypoint",
        ),
      ];
    return [
      {
        ...this.#problem([], "NO_CODE", "the package contains no code: its manifest configures the built-in plugin with this name"),
        severity: "warning",
      },
    ];
  }

  /**
   * Returns one problem for each field that the schema rejects. Skips fields that the schema `known` contains, because an earlier call has
   * already checked them.
   */
  #issues(schema: z.ZodObject, fields: Fields, known?: z.ZodObject): Problem[] {
    const issues = schema.safeParse(fields, { error: validationMessage }).error?.issues ?? [];
    return issues
      .filter((issue) => known === undefined || !Object.hasOwn(known.shape, String(issue.path[0])))
      .map((issue) => this.#problem(issue.path, "INVALID_PACKAGE_METADATA", issueText(issue)));
  }

  #writtenVersion(): string | undefined {
    const written = this.#manifest?.document?.get("version", true) as { source?: string } | undefined;
    return written?.source;
  }

  #problem(keys: readonly PropertyKey[], code: string, message: string, ofKey = false): Problem {
    const isDeclared = keys.length === 0 || Object.hasOwn(this.#manifest?.fields ?? {}, String(keys[0]));
    const text = (isDeclared ? this.#manifest : this.#packageJson) ?? this.#manifest;
    return { severity: "error", code, message, file: text?.file ?? "manifest.yaml", ...(text && positionOf(text, keys, ofKey)) };
  }
}

function refusalOf(check: () => unknown): ApiError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
