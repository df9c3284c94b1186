import { hideCredentials } from "./hide-credentials.js";
import { accepted } from "./config-values.js";
import { parseSizeBytes } from "../../shared/size.js";
import { ConfigError } from "./config-error.js";
import { readSecret, readSecretFile, type SecretForm } from "./secret-source.js";
import type { VariableDescription } from "./config-variables.js";

/** The OCI registry that contains the packages of several daemons. */
export interface PackageSource {
  /** Origin of the registry, such as `https://registry.example.org`. */
  readonly origin: string;
  /** Name of the repository, such as `team/runtimed`. */
  readonly repository: string;
  /** Returns the current credential: `user:password`, a token, or undefined. Reads its file again. Throws ConfigError. */
  readonly credential: () => string | undefined;
  /** Maximum size in bytes of all downloaded versions on this machine. */
  readonly cacheSizeBytes: number;
}

export const packageSourceVariables: readonly VariableDescription[] = [
  {
    name: "RUNTIME_PACKAGE_STORE",
    fallback: "directory",
    meaning:
      "Location of uploaded workers: `directory` = the worker directory; `oci:` and the URL of a repository, such as `oci:https://registry.example.org/runtimed` = an OCI registry that several daemons share. Each primary needs a repository of its own. The list of versions is stored with the keys.",
  },
  {
    name: "RUNTIME_PACKAGE_STORE_CREDENTIAL",
    fallback: "",
    meaning:
      "Credential of the OCI registry: `user:password` or a token. Prefer the systemd credential `package-store` or `RUNTIME_PACKAGE_STORE_CREDENTIAL_FILE`, which take precedence.",
  },
  {
    name: "RUNTIME_PACKAGE_STORE_CREDENTIAL_FILE",
    fallback: "",
    meaning: "File with the credential of the OCI registry. The daemon reads it again after the registry rejected the credential.",
  },
  {
    name: "RUNTIME_CACHE_SIZE",
    fallback: "10gb",
    meaning:
      "Maximum size of the workers that the daemon has downloaded from the OCI registry. Beyond it, the daemon deletes the least recently used files, and downloads them again at the next request. Files in use and folders that were copied by hand stay.",
  },
];

const credentialForm: SecretForm = {
  credential: "package-store",
  variable: "RUNTIME_PACKAGE_STORE_CREDENTIAL",
  pattern: /^[\x21-\x7e]{1,8192}$/,
  takes: "user:password or a token of at most 8192 printable ASCII characters without spaces",
};
/** Name of a repository (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests). */
const repositoryPattern = /^[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*$/;
const longestRepository = 200;

/** Returns the registry, or undefined if the worker directory is the store. Throws ConfigError. */
export function readPackageSource(
  environment: Readonly<Record<string, string | undefined>>,
  value: (variable: string) => string,
): PackageSource | undefined {
  const text = value("RUNTIME_PACKAGE_STORE");
  if (text === "directory") return undefined;
  const address = text.startsWith("oci:") && URL.canParse(text.slice(4)) ? new URL(text.slice(4)) : undefined;
  const repository = address?.pathname.slice(1) ?? "";
  const isAccepted =
    address !== undefined &&
    /^https?:$/.test(address.protocol) &&
    address.href === `${address.origin}/${repository}` &&
    repository.length <= longestRepository &&
    repositoryPattern.test(repository);
  if (!isAccepted) {
    throw new ConfigError(
      "RUNTIME_PACKAGE_STORE",
      hideCredentials(text),
      "directory, or oci: and the URL of a repository without a query or password, such as oci:https://registry.example.org/runtimed",
    );
  }
  const { secret, secretFile } = readSecret(environment, credentialForm);
  const credential = () => (secretFile ? readSecretFile(secretFile, credentialForm) : secret);
  const cacheSize = value("RUNTIME_CACHE_SIZE");
  const cacheSizeBytes = accepted(
    "RUNTIME_CACHE_SIZE",
    cacheSize,
    "a size such as 500mb, 10gb, or a number of bytes",
    parseSizeBytes(cacheSize),
  );
  return { origin: address.origin, repository, credential, cacheSizeBytes };
}
